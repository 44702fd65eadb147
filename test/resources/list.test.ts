import { describe, expect, test } from 'vitest'
import { startLading } from '../harness/lading.ts'

const lading = await startLading()
const skus = ['A-1', 'A-2', 'B-1', 'B-2', 'B-3']

await lading.a.rest.post(
  '/inventory_items',
  skus.map((sku, n) => ({
    business_id: lading.a.id,
    sku,
    title: n === 4 ? null : `Item ${sku}`,
    legacy_id: (n + 1) * 10,
    external_ids: { erp: `e${n}` },
    additional_fields: n === 0 ? { colour: 'red' } : null,
  })),
)

const list = (query: string, headers?: Record<string, string>) =>
  lading.a.rest.get<{ sku: string }[]>(`/inventory_items?${query}`, headers)
const skusOf = async (query: string) => (await list(`${query}&order=sku`)).body.map((row) => row.sku)

describe('a filter on a column', () => {
  test.each([
    ['eq', 'sku=eq.A-1', ['A-1']],
    ['neq', 'sku=neq.A-1', ['A-2', 'B-1', 'B-2', 'B-3']],
    ['gt and lte', 'legacy_id=gt.10&legacy_id=lte.30', ['A-2', 'B-1']],
    ['gte and lt', 'legacy_id=gte.40&legacy_id=lt.50', ['B-2']],
    ['like', 'sku=like.A-*', ['A-1', 'A-2']],
    ['ilike', 'sku=ilike.b-*', ['B-1', 'B-2', 'B-3']],
    ['in', 'sku=in.(A-1,B-3,unknown)', ['A-1', 'B-3']],
    ['is null', 'title=is.null', ['B-3']],
    ['not is null', 'title=not.is.null', ['A-1', 'A-2', 'B-1', 'B-2']],
    ['not', 'sku=not.in.(A-1,A-2)', ['B-1', 'B-2', 'B-3']],
    ['or', 'or=(sku.eq.A-1,legacy_id.gte.50)', ['A-1', 'B-3']],
    ['and', 'and=(sku.like.B-*,not.or(legacy_id.eq.30,legacy_id.eq.40))', ['B-3']],
    ['cs on JSON', 'external_ids=cs.{"erp":"e1"}', ['A-2']],
    ['a field of JSON', 'additional_fields->>colour=eq.red', ['A-1']],
    ['nothing found', 'sku=eq.unknown', []],
  ])('%s', async (_operator, query, found) => {
    expect(await skusOf(query)).toEqual(found)
  })

  test.each(['id', 'business_id', 'sku', 'title', 'legacy_id', 'creation_time', 'update_time'])(
    'on each column: %s',
    async (column) => {
      expect((await list(`${column}=not.is.null`)).status).toBe(200)
    },
  )

  test.each([
    ['an unknown column', 'colour=eq.blue'],
    ['an unknown operator', 'sku=is_like.A'],
    ['no operator', 'sku=A-1'],
    ['a value of the wrong type', 'legacy_id=eq.ten'],
    ['no uuid', 'id=eq.1'],
    ['an integer that is too large', 'legacy_id=eq.99999999999999999999'],
  ])('%s: 400', async (_reason, query) => {
    expect((await list(query)).status).toBe(400)
  })
})

describe('select', () => {
  test('returns the columns named, in that order, renamed and cast', async () => {
    const { body } = await list('sku=eq.A-1&select=number:legacy_id::text,sku')
    expect(JSON.stringify(body)).toBe('[{"number":"10","sku":"A-1"}]')
  })

  test('reads into JSON', async () => {
    expect((await list('sku=eq.A-1&select=external_ids->>erp')).body).toEqual([{ erp: 'e0' }])
  })

  test('an unknown column: 400', async () => {
    expect((await list('select=sku,colour')).status).toBe(400)
  })
})

describe('order, limit and offset', () => {
  test('order by several columns, nulls where asked for', async () => {
    expect((await list('order=title.desc.nullsfirst,sku&limit=2')).body.map((row) => row.sku)).toEqual(['B-3', 'B-2'])
    expect((await list('order=title.asc.nullslast')).body.at(-1)?.sku).toBe('B-3')
  })

  test('limit and offset cut a page', async () => {
    const { status, body, headers } = await list('order=sku&limit=2&offset=1')
    expect(status).toBe(200)
    expect(body.map((row) => row.sku)).toEqual(['A-2', 'B-1'])
    expect(headers.get('content-range')).toBe('1-2/*')
  })

  test('an offset beyond the end is an empty page', async () => {
    expect(await list('offset=100')).toMatchObject({ status: 200, body: [] })
  })

  test('limit=0 is an empty page', async () => {
    expect(await list('limit=0')).toMatchObject({ status: 200, body: [] })
  })

  test('an order by an unknown column: 400', async () => {
    expect((await list('order=colour')).status).toBe(400)
  })
})

describe('the header Range', () => {
  test('cuts a page, in the default unit items', async () => {
    for (const unit of [{}, { 'Range-Unit': 'items' }]) {
      const { status, body, headers } = await list('order=sku', { Range: '1-3', ...unit })
      expect(status).toBe(200)
      expect(body.map((row) => row.sku)).toEqual(['A-2', 'B-1', 'B-2'])
      expect(headers.get('content-range')).toBe('1-3/*')
    }
  })

  test('may be open', async () => {
    expect((await list('order=sku', { Range: '3-' })).body.map((row) => row.sku)).toEqual(['B-2', 'B-3'])
  })

  test('with a count it is a part: 206 with the total; beyond the end: 416', async () => {
    const part = await list('order=sku', { Range: '0-1', Prefer: 'count=exact' })
    expect(part.status).toBe(206)
    expect(part.headers.get('content-range')).toBe('0-1/5')
    expect((await list('order=sku', { Range: '10-11', Prefer: 'count=exact' })).status).toBe(416)
  })
})

describe('Prefer', () => {
  test('count=none counts nothing', async () => {
    const { status, headers } = await list('order=sku', { Prefer: 'count=none' })
    expect(status).toBe(200)
    expect(headers.get('content-range')).toBe('0-4/*')
  })

  test('count=exact counts all that the filter finds', async () => {
    const { status, body, headers } = await list('sku=like.B-*', { Prefer: 'count=exact' })
    expect(status).toBe(200)
    expect(body).toHaveLength(3)
    expect(headers.get('content-range')).toBe('0-2/3')
  })

  test.each(['planned', 'estimated'])('count=%s answers', async (kind) => {
    expect([200, 206]).toContain((await list('', { Prefer: `count=${kind}` })).status)
  })
})

test('HEAD answers as GET does, without the body', async () => {
  const response = await fetch(`${lading.restUrl}/inventory_items`, {
    method: 'HEAD',
    headers: { apikey: lading.applicationKey, Authorization: `Bearer ${lading.a.key}`, Prefer: 'count=exact' },
  })
  expect(response.status).toBe(200)
  expect(response.headers.get('content-range')).toBe('0-4/5')
  expect(await response.text()).toBe('')
})

test('one record alone, as an object: 406 when there are none or several', async () => {
  const object = { Accept: 'application/vnd.pgrst.object+json' }
  expect(await list('sku=eq.A-1&select=sku', object)).toMatchObject({ status: 200, body: { sku: 'A-1' } })
  expect((await list('sku=eq.unknown', object)).status).toBe(406)
  expect((await list('sku=like.A-*', object)).status).toBe(406)
})

test('an unknown resource: 404', async () => {
  expect((await lading.a.rest.get('/pallets')).status).toBe(404)
})

test('a page has at most 1000 rows, whatever limit asks for; the rest comes with offset', async () => {
  await lading.sql`
    insert into api.addresses (business_id, name) select ${lading.b.id}, n from generate_series(1, 1200) n`
  const page = (query: string, headers?: Record<string, string>) =>
    lading.b.rest.get<unknown[]>(`/addresses?order=id&select=id${query}`, headers)
  expect((await page('')).body).toHaveLength(1000)
  expect((await page('&limit=5000')).body).toHaveLength(1000)
  expect((await page('', { Range: '0-4999' })).body).toHaveLength(1000)
  expect((await page('&offset=1000')).body).toHaveLength(200)
  const counted = await page('', { Prefer: 'count=exact' })
  expect(counted.status).toBe(206)
  expect(counted.headers.get('content-range')).toBe('0-999/1200')
})
