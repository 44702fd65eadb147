import { createConnection } from 'node:net'
import { describe, expect, test } from 'vitest'
import { startLading } from '../harness/lading.ts'

const lading = await startLading()
const business_id = lading.a.id
const tables = ['addresses', 'inventory_items', 'customers', 'orders']
const calls = ['upsert_orders_full', 'upsert_shipments_full', 'upsert_shipment_receipts_full', 'adjust_inventory']

const send = (path: string, body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}) =>
  fetch(`${lading.restUrl}${path}`, {
    method: 'POST',
    body,
    headers: {
      apikey: lading.applicationKey,
      Authorization: `Bearer ${lading.a.key}`,
      'Content-Type': 'application/json',
      ...headers,
    },
  })

const countRows = async (): Promise<number> => {
  const counts = await Promise.all(
    tables.map((name) => lading.sql.unsafe<{ rows: number }[]>(`select count(*)::integer as rows from api.${name}`)),
  )
  return counts.reduce((sum, [row]) => sum + (row?.rows ?? 0), 0)
}

const text = (value: string) => new TextEncoder().encode(value)
const joined = (...parts: Uint8Array[]) => new Uint8Array(Buffer.concat(parts))
const deep = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`
const address = (field: string) => `{"business_id":"${business_id}","city":${field}}`

const bodies: [string, string | Uint8Array<ArrayBuffer>][] = [
  ['no JSON', 'name=Dock'],
  ['an empty body', ''],
  ['JSON cut short', address('"Bre')],
  ['two values', `${address('"Kiel"')}${address('"Kiel"')}`],
  ['an array of numbers', '[1,2]'],
  ['an array of arrays', '[[]]'],
  ['invalid UTF-8', joined(text(`{"business_id":"${business_id}","city":"`), new Uint8Array([0xff, 0xfe]), text('"}'))],
  [
    'an overlong NUL',
    joined(text(`{"business_id":"${business_id}","city":"`), new Uint8Array([0xc0, 0x80]), text('"}')),
  ],
  ['an escaped NUL', address('"a\\u0000b"')],
  ['half of a surrogate pair', address('"\\ud800"')],
  ['a byte of NUL', joined(text(`{"business_id":"${business_id}","city":"a`), new Uint8Array([0]), text('b"}'))],
  ['an escaped NUL in free fields', `{"business_id":"${business_id}","additional_fields":{"a":"\\u0000"}}`],
  ['an escaped NUL as a name', `{"business_id":"${business_id}","additional_fields":{"\\u0000":1}}`],
  ['100,000 levels in free fields', `{"business_id":"${business_id}","additional_fields":{"a":${deep(100_000)}}}`],
  ['100,000 levels', deep(100_000)],
  ['a number of 200,001 digits', `{"business_id":"${business_id}","additional_fields":{"n":1${'0'.repeat(200_000)}}}`],
  ['a number beyond all', `{"business_id":"${business_id}","additional_fields":{"n":1e1000000}}`],
]

describe.each(bodies)('%s', (_name, body) => {
  test('is refused by a table with a message, and nothing is stored: 4xx', async () => {
    const before = await countRows()
    const answer = await send('/addresses', body)
    const said = await answer.text()
    expect(answer.status, said.slice(0, 300)).toBeGreaterThanOrEqual(400)
    expect(answer.status, said.slice(0, 300)).toBeLessThan(500)
    expect(JSON.parse(said)).toMatchObject({ message: expect.stringMatching(/./) })
    expect(await countRows()).toBe(before)
  })

  test('is refused by every call, and nothing is stored: 4xx', async () => {
    const before = await countRows()
    for (const name of calls) {
      const answer = await send(`/rpc/${name}`, body)
      const said = await answer.text()
      expect(answer.status, `${name}: ${said.slice(0, 300)}`).toBeGreaterThanOrEqual(400)
      expect(answer.status, `${name}: ${said.slice(0, 300)}`).toBeLessThan(500)
    }
    expect(await countRows()).toBe(before)
  })
})

test.each(['"Kiel"', '42', 'null', 'true'])('%s is no record: a table stores nothing', async (body) => {
  const before = await countRows()
  expect((await send('/addresses', body)).status).toBeLessThan(500)
  expect(await countRows()).toBe(before)
})

describe('numbers', () => {
  const order = (field: string, value: string) =>
    send('/orders', `{"business_id":"${business_id}","${field}":${value}}`, { Prefer: 'return=minimal' })

  test.each(['2147483648', '-2147483649', '1e20', '1.5', '"12x"', 'true', '{}'])(
    'total_price %s: 400',
    async (value) => {
      expect((await order('total_price', value)).status).toBe(400)
    },
  )

  test.each(['1e1000000', '"x"', `1${'0'.repeat(140_000)}`])('total_grams %.20s: 400', async (value) => {
    expect((await order('total_grams', value)).status).toBe(400)
  })

  test('grams are exact, whatever their size', async () => {
    const grams = '123456789012345678901234567890.123456789'
    expect((await order('total_grams', grams)).status).toBe(201)
    const [stored] = await lading.sql`select total_grams::text from api.orders where total_grams > 1`
    expect(stored?.total_grams).toBe(grams)
  })
})

describe('times', () => {
  test.each(['yesterday evening', '2026-13-01', '2026-02-30T00:00:00Z', '', '99999999-01-01'])(
    '%s: 400',
    async (time) => {
      const answer = await lading.a.rest.post('/orders', { business_id, purchased_time: time })
      expect(answer.status).toBe(400)
    },
  )
})

describe('more than 10 MB', () => {
  const large = `{"business_id":"${business_id}","city":"${'x'.repeat(10_000_000)}"}`

  test('is 413 in the shape of other errors, and nothing is stored', async () => {
    const before = await countRows()
    const answer = await send('/addresses', large)
    expect(answer.status).toBe(413)
    expect(await answer.json()).toEqual({
      code: 'PT413',
      details: null,
      hint: null,
      message: 'The request body is larger than 10 MB',
    })
    expect(await countRows()).toBe(before)
  })

  test('is 413 too when its length is not told', async () => {
    const stream = new ReadableStream({
      start(controller) {
        controller.enqueue(text(large))
        controller.close()
      },
    })
    const answer = await fetch(`${lading.restUrl}/addresses`, {
      method: 'POST',
      body: stream,
      duplex: 'half',
      headers: {
        apikey: lading.applicationKey,
        Authorization: `Bearer ${lading.a.key}`,
        'Content-Type': 'application/json',
      },
    })
    expect(answer.status).toBe(413)
  })

  test('just below it is taken', async () => {
    const city = 'x'.repeat(9_900_000)
    expect((await lading.a.rest.post('/addresses', { business_id, city }, { Prefer: 'tx=rollback' })).status).toBe(201)
  })
})

test.each(['application/x-yaml', 'image/png', 'multipart/form-data; boundary=x'])(
  'a body of type %s is refused: 4xx',
  async (type) => {
    const { status } = await send('/addresses', '{}', { 'Content-Type': type })
    expect(status).toBeGreaterThanOrEqual(400)
    expect(status).toBeLessThan(500)
  },
)

test.each(['/addresses?city=eq.%ff', '/addresses?id=eq.%00', '/addresses?select=%ff', '/%ff'])(
  'the address %s is refused: 4xx',
  async (path) => {
    const { status } = await lading.a.rest.get(path)
    expect(status).toBeGreaterThanOrEqual(400)
    expect(status).toBeLessThan(500)
  },
)

test('a key that is not UTF-8 is refused: 4xx, and the service goes on', async () => {
  const { hostname, port } = new URL(lading.baseUrl)
  const answered = await new Promise<string>((resolve, reject) => {
    let received = ''
    const socket = createConnection(Number(port), hostname, () => {
      socket.write(
        Buffer.concat([
          Buffer.from('GET /rest/v1/orders HTTP/1.1\r\nHost: x\r\nConnection: close\r\napikey: '),
          Buffer.from([0xff, 0xfe, 0xc0]),
          Buffer.from(`\r\nAuthorization: Bearer ${lading.a.key}\r\n\r\n`),
        ]),
      )
    })
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1')
    })
    socket.on('close', () => resolve(received))
    socket.on('error', reject)
  })
  expect(answered).toMatch(/^HTTP\/1\.1 4\d\d /)
  expect((await lading.a.rest.get('/orders')).status).toBe(200)
})
