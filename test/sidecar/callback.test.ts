import { once } from 'node:events'
import { request } from 'node:http'
import { describe, expect, test } from 'vitest'
import { quantitiesOf, stock, succeeded } from '../builders.ts'
import { startLading } from '../harness/lading.ts'
import { addCallbackStep, addPendingOrder, makeCallbackClient, shipped } from './warehouse.ts'

const lading = await startLading()
const { a, b } = lading
const post = makeCallbackClient(lading, a)
const step = await addCallbackStep(a)
const url = step.callbackUrl

const everything = async () =>
  Promise.all(
    ['orders', 'order_activities', 'fulfillments', 'fulfillment_line_items', 'inventory_adjustments'].map(
      async (table) => lading.sql.unsafe(`select * from api.${table} order by id`),
    ),
  )

describe('answers', () => {
  test('200: updateResult with four counts; 204, empty: the same message again', async () => {
    const order = await addPendingOrder(a, step.locationId)
    await stock(a, order.item, step.locationId, 100)
    const answer = await post(url, shipped(order))
    expect(answer).toMatchObject({ status: 200 })
    expect(answer.headers.get('content-type')).toMatch('application/json')
    expect(JSON.parse(answer.text)).toEqual({
      updateResult: {
        inventoryAdjustmentCount: 2,
        inventorySetCount: 0,
        orderActivityCount: expect.any(Number),
        orderUpdateCount: 1,
      },
    })
    expect(await quantitiesOf(a, order.item, step.locationId)).toMatchObject({ available_to_sell: 90, committed: 0 })
    expect(await post(url, shipped(order))).toMatchObject({ status: 204, text: '' })
    expect(await quantitiesOf(a, order.item, step.locationId)).toMatchObject({ available_to_sell: 90, committed: 0 })
  })

  test('204: no location of the step is named', async () => {
    const order = await addPendingOrder(a, step.locationId)
    expect(await post(url, shipped(order, 10, { locationId: 'elsewhere' }))).toMatchObject({ status: 204, text: '' })
  })

  test('202, empty: the step is not synchronous', async () => {
    const asynchronous = await addCallbackStep(a, { is_synchronous: false })
    const order = await addPendingOrder(a, asynchronous.locationId)
    expect(await post(asynchronous.callbackUrl, shipped(order))).toMatchObject({ status: 202, text: '' })
    expect(await lading.sql`select * from internal.queued_callbacks`).toHaveLength(1)
    expect(await post(asynchronous.callbackUrl, { orderUpdate: {} })).toMatchObject({ status: 400 })
    expect(await lading.sql`select * from internal.queued_callbacks`).toHaveLength(1)
  })

  test('the messages of refusal and cancellation', async () => {
    for (const [field, status] of [
      ['rejectionReason', 'hold'],
      ['cancellationReason', 'open'],
    ] as const) {
      const order = await addPendingOrder(a, step.locationId)
      succeeded(
        await a.rest.patch(`/fulfillments?id=eq.${order.fulfillmentId}`, {
          additional_fields: { warehouse_order_id: `W-${field}` },
        }),
      )
      const answer = await post(url, { warehouseOrderId: `W-${field}`, [field]: 'flooded' })
      expect(answer).toMatchObject({ status: 200 })
      const [stored] = succeeded(await a.rest.get<{ status: string }[]>(`/orders?id=eq.${order.id}`))
      expect(stored?.status).toBe(status)
    }
  })

  test('the keys of roles warehouse, business and operator may post', async () => {
    for (const key of [a.warehouseKey, a.key, lading.operatorKey]) {
      const order = await addPendingOrder(a, step.locationId)
      expect(await post(url, shipped(order), { Authorization: `Bearer ${key}` })).toMatchObject({ status: 200 })
    }
  })

  test('405 names POST', async () => {
    const answer = await fetch(url)
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'POST'])
  })

  test('a request id is returned', async () => {
    expect((await post(url, '{}', { 'X-Request-Id': 'mine-7' })).headers.get('x-request-id')).toBe('mine-7')
  })
})

describe('order of checks', () => {
  const noStep = url.replace(step.id, '019a0000-0000-7000-8000-000000000000')
  const large = 'x'.repeat(10_000_001)

  test('413 comes before everything, announced or not', async () => {
    const unauthorized = { apikey: null, Authorization: null }
    const expected = { status: 413, text: 'The request body is larger than 10 MB' }
    expect(await post(noStep, large, unauthorized)).toMatchObject(expected)
    const streamed = await fetch(noStep, {
      method: 'POST',
      duplex: 'half',
      body: new Blob([large]).stream(),
    } as RequestInit)
    expect([streamed.status, await streamed.text()]).toEqual([413, expected.text])
  })

  test('413: with Expect: 100-continue the client never sends it', async () => {
    const sent = request(url, { method: 'POST', headers: { 'Content-Length': '10000001', Expect: '100-continue' } })
    let wasTold = false
    sent.on('continue', () => {
      wasTold = true
    })
    sent.on('error', () => undefined)
    sent.flushHeaders()
    const [response] = await once(sent, 'response')
    expect([response.statusCode, wasTold]).toEqual([413, false])
    sent.destroy()
  })

  test('a body of exactly 10 MB is read', async () => {
    const body = JSON.stringify(shipped(await addPendingOrder(a, step.locationId)))
    expect(await post(url, body + ' '.repeat(10_000_000 - body.length))).toMatchObject({ status: 200 })
  })

  test.for([
    ['apikey missing', { apikey: null }, 'Header apikey is missing'],
    ['apikey unknown', { apikey: 'nonsense' }, 'Header apikey: unknown or revoked application key'],
    ['Authorization missing', { Authorization: null }, 'Header Authorization: a Bearer API key is missing'],
    ['key unknown', { Authorization: 'Bearer nonsense' }, 'Header Authorization: unknown or revoked API key'],
  ] as const)('401 comes before step and body: %s', async ([, headers, text]) => {
    expect(await post(noStep, 'not JSON', { ...headers, 'Content-Type': 'text/plain' })).toMatchObject({
      status: 401,
      text,
    })
  })

  test('401: a revoked key, with the next request', async () => {
    const business = await lading.addBusiness('Revoked')
    const own = await addCallbackStep(business)
    const call = makeCallbackClient(lading, business)
    expect(await call(own.callbackUrl, {})).toMatchObject({ status: 400 })
    await lading.sql`update internal.api_keys set revoked_time = now() where business_id = ${business.id}`
    expect(await call(own.callbackUrl, {})).toMatchObject({ status: 401 })
  })

  test('404 comes before the body: an unknown step, one of another business, what is no id', async () => {
    const foreign = await addCallbackStep(b)
    const ids = ['019a0000-0000-7000-8000-000000000000', foreign.id, 'nonsense', '%00', 'a%2Fb', '%E0%A4%A', "'"]
    for (const id of ids) {
      const answer = await post(url.replace(step.id, id), 'not JSON', { 'Content-Type': 'text/plain' })
      expect(answer, id).toMatchObject({
        status: 404,
        text: expect.stringMatching(/^No process-shipments step "[^\n]*$/),
      })
    }
    expect(await post(foreign.callbackUrl, {}, { Authorization: `Bearer ${lading.operatorKey}` })).toMatchObject({
      status: 400,
    })
  })

  test('415 comes before JSON', async () => {
    for (const type of [null, 'text/plain', 'application/jsonp', 'application/json; charset=latin1']) {
      const body = type === null ? new TextEncoder().encode('not JSON') : 'not JSON'
      expect(await post(url, body, { 'Content-Type': type }), String(type)).toMatchObject({
        status: 415,
        text: 'Header Content-Type: must be application/json',
      })
    }
    for (const type of ['application/json; charset=utf-8', 'APPLICATION/JSON;charset="UTF-8"', 'application/x+json']) {
      expect(await post(url, 'not JSON', { 'Content-Type': type }), type).toMatchObject({ status: 400 })
    }
    expect(await post(url, '{}', { 'Content-Encoding': 'gzip' })).toMatchObject({ status: 415 })
  })

  test('the schema comes before the order', async () => {
    expect(await post(url, { orderUpdate: { id: 'nobody', fulfillments: [{}] } })).toMatchObject({
      text: 'orderUpdate.fulfillments[0].locationId: is required',
    })
    expect(await post(url, { orderUpdate: { id: 'nobody', fulfillments: [] } })).toMatchObject({
      status: 400,
      text: 'orderUpdate: no order has id "nobody"',
    })
  })
})

describe('a wrong body is 400 with one line that names the path, and changes nothing', () => {
  const line = (fields: object) => ({ orderUpdate: { id: 'X', fulfillments: [fulfilled({}, fields)] } })
  const fulfilled = (fields: object, lineFields?: object) => ({
    locationId: 'L',
    status: 'OPEN',
    lineItems: [{ sku: 'A', quantity: 1 }, ...(lineFields === undefined ? [] : [lineFields])],
    ...fields,
  })
  const fulfillment = (fields: object) => ({ orderUpdate: { id: 'X', fulfillments: [fulfilled(fields)] } })
  const at = 'orderUpdate.fulfillments[0]'
  const nested = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`

  const cases: [body: unknown, text: string | RegExp][] = [
    ['', /^The body is not JSON: /],
    ['{"orderUpdate":', /^The body is not JSON: /],
    ['{"a":\n"b\u0001"\n}', /^The body is not JSON: /],
    ['[]', 'The body must be a JSON object'],
    ['null', 'The body must be a JSON object'],
    ['"text"', 'The body must be a JSON object'],
    [new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), 'The body is not valid UTF-8'],
    [{}, 'orderUpdate: is required'],
    [{ orderUpdate: null }, 'orderUpdate: must be an object'],
    [{ orderUpdate: [] }, 'orderUpdate: must be an object'],
    [{ orderUpdate: {} }, 'orderUpdate.fulfillments: is required'],
    [{ orderUpdate: { fulfillments: {} } }, 'orderUpdate.fulfillments: must be an array'],
    [{ orderUpdate: { id: 5, fulfillments: [] } }, 'orderUpdate.id: must be text'],
    [
      { orderUpdate: { fulfillments: Array(5_001).fill(fulfilled({})) } },
      'orderUpdate.fulfillments: must be at most 5000 entries',
    ],
    [{ orderUpdate: { fulfillments: ['x'] } }, `${at}: must be an object`],
    [fulfillment({ locationId: undefined }), `${at}.locationId: is required`],
    [fulfillment({ locationId: 7 }), `${at}.locationId: must be text`],
    [fulfillment({ locationId: '' }), `${at}.locationId: must not be empty`],
    [fulfillment({ locationId: 'x'.repeat(1_001) }), `${at}.locationId: must be at most 1000 characters`],
    [fulfillment({ status: undefined }), `${at}.status: is required`],
    [fulfillment({ status: 'open' }), `${at}.status: must be one of OPEN, SUCCESS, CANCELED, PENDING, NEW, BACKORDER`],
    [fulfillment({ lineItems: undefined }), `${at}.lineItems: is required`],
    [fulfillment({ lineItems: {} }), `${at}.lineItems: must be an array`],
    [fulfillment({ trackingNumber: 1 }), `${at}.trackingNumber: must be text`],
    [fulfillment({ trackingUrls: 'http://x' }), `${at}.trackingUrls: must be an array`],
    [fulfillment({ trackingUrls: [1] }), `${at}.trackingUrls[0]: must be text`],
    [fulfillment({ shippedAt: 'yesterday' }), `${at}.shippedAt: must be an ISO 8601 date-time`],
    [fulfillment({ shippedAt: '2026-02-30T10:00:00Z' }), `${at}.shippedAt: must be an ISO 8601 date-time`],
    [fulfillment({ shippedAt: '0000-01-01T10:00:00Z' }), `${at}.shippedAt: must be an existing time`],
    [fulfillment({ shippedAt: '2026-01-01T10:00:00+18:00' }), `${at}.shippedAt: must be an existing time`],
    [fulfillment({ additionalFields: { a: 1 } }), `${at}.additionalFields: must be an array`],
    [fulfillment({ additionalFields: [{ value: 1 }] }), `${at}.additionalFields[0].name: is required`],
    [line({ quantity: 1 }), `${at}.lineItems[1]: id or sku is required`],
    [line({ sku: null, id: null, quantity: 1 }), `${at}.lineItems[1]: id or sku is required`],
    [line({ sku: 'A' }), `${at}.lineItems[1].quantity: is required`],
    [line({ sku: 'A', quantity: 0 }), `${at}.lineItems[1].quantity: must be at least 1`],
    [line({ sku: 'A', quantity: -1 }), `${at}.lineItems[1].quantity: must be at least 1`],
    [line({ sku: 'A', quantity: 1.5 }), `${at}.lineItems[1].quantity: must be a whole number`],
    [
      line({ sku: 'A', quantity: '1' }),
      /^orderUpdate\.fulfillments\[0\]\.lineItems\[1\]\.quantity: must be a .*number$/,
    ],
    [line({ sku: 'A', quantity: 2_147_483_648 }), `${at}.lineItems[1].quantity: must be at most 2147483647`],
    [line({ sku: 'A', quantity: 1e300 }), /^orderUpdate\.fulfillments\[0\]\.lineItems\[1\]\.quantity: must be /],
    [line({ sku: 'A', quantity: 1, price: 1.25 }), `${at}.lineItems[1].price: must be a whole number`],
    [line({ sku: 'A', quantity: 1, grams: 'heavy' }), `${at}.lineItems[1].grams: must be a number`],
    [
      JSON.stringify(line({ sku: 'A', quantity: 1, grams: 7 })).replace('7', '1e999'),
      /^orderUpdate\.fulfillments\[0\]\.lineItems\[1\]\.grams: must be /,
    ],
    [
      { ...fulfillment({}), fulfillmentOptions: { partialShipments: 'yes' } },
      'fulfillmentOptions.partialShipments: must be true or false',
    ],
    [{ ...fulfillment({}), fulfillmentOptions: true }, 'fulfillmentOptions: must be an object'],
    [fulfillment({ note: 'a\0b' }), `${at}.note: must not contain a NUL character`],
    [fulfillment({ 'a\0b': 1 }), `${at}: a field's name must not contain a NUL character`],
    [fulfillment({ note: '\ud800' }), `${at}.note: must be valid Unicode`],
    [`{"orderUpdate":{"fulfillments":[${nested(150)}]}}`, `${at}: must not be nested so deeply`],
    [`{"a":${'['.repeat(1_000_000)}${']'.repeat(1_000_000)}}`, /: must not be nested so deeply$/],
    [{ warehouseOrderId: 'W' }, 'cancellationReason: is required'],
    [{ rejectionReason: 'full' }, 'warehouseOrderId: is required'],
    [{ warehouseOrderId: 5, rejectionReason: 'full' }, 'warehouseOrderId: must be text'],
    [{ warehouseOrderId: 'W', rejectionReason: '' }, 'rejectionReason: must not be empty'],
    [
      { warehouseOrderId: 'W', rejectionReason: 'a', cancellationReason: 'b' },
      'rejectionReason and cancellationReason exclude each other',
    ],
    [{ warehouseOrderId: 'unknown', rejectionReason: 'a' }, 'warehouseOrderId: no pending fulfillment has "unknown"'],
  ]

  test('each', async () => {
    await addPendingOrder(a, step.locationId)
    const before = await everything()
    for (const [body, text] of cases) {
      const answer = await post(url, body)
      const described = `${JSON.stringify(body)?.slice(0, 200)} → ${answer.text.slice(0, 200)}`
      expect(answer.status, described).toBe(400)
      if (typeof text === 'string') expect(answer.text, described).toBe(text)
      else expect(answer.text, described).toMatch(text)
      expect(answer.text, described).not.toContain('\n')
      expect(answer.headers.get('content-type')).toMatch('text/plain')
    }
    expect(await everything()).toEqual(before)
  })

  test('what only the database can tell, too', async () => {
    const order = await addPendingOrder(a, step.locationId)
    const before = await everything()
    for (const [body, text] of [
      [shipped(order, 11), `${at}.lineItems[0].quantity: more than is pending of "${order.item.sku}"`],
      [
        shipped(order, 1, { lineItems: [{ sku: 'NOPE', quantity: 1 }] }),
        `${at}.lineItems[0].sku: the fulfillment has no "NOPE"`,
      ],
      [shipped(order, 1, { status: 'NEW' }), `${at}.status: the fulfillment is PENDING and cannot become NEW`],
    ] as const) {
      expect(await post(url, body)).toMatchObject({ status: 400, text })
    }
    expect(await everything()).toEqual(before)
  })
})

describe('what a right body may hold', () => {
  test('null where nothing is required, other fields, whole numbers written as 3.0, every digit of a big number', async () => {
    const order = await addPendingOrder(a, step.locationId)
    const text = JSON.stringify({
      ...shipped(order, 10, {
        id: null,
        trackingNumber: null,
        trackingUrls: null,
        shippedAt: null,
        additionalFields: null,
        dock: { gate: 5, crew: ['Ann'] },
        serial: 'BIG',
      }),
      fulfillmentOptions: null,
      source: 'test',
    })
      .replace('"BIG"', '12345678901234567890')
      .replace('"quantity":10', '"quantity":10.0,"price":12.0')
    expect(await post(url, text)).toMatchObject({ status: 200 })
    const [stored] = await lading.sql<{ serial: string; gate: string }[]>`
      select additional_fields ->> 'serial' as serial, additional_fields #>> '{dock,gate}' as gate
      from api.fulfillments where id = ${order.fulfillmentId}`
    expect(stored).toEqual({ serial: '12345678901234567890', gate: '5' })
  })

  test('a byte order mark, names of headers in any case, an empty Idempotency-Key', async () => {
    const order = await addPendingOrder(a, step.locationId)
    const body = `\ufeff${JSON.stringify(shipped(order))}`
    const sent = request(url, {
      method: 'POST',
      headers: {
        'CONTENT-TYPE': 'application/json',
        APIKEY: lading.applicationKey,
        AUTHORIZATION: `bearer ${a.warehouseKey}`,
        'IDEMPOTENCY-KEY': '',
      },
    }).end(body)
    const [response] = await once(sent, 'response')
    response.resume()
    expect(response.statusCode).toBe(200)
  })

  test('5,000 fulfillments', async () => {
    const order = await addPendingOrder(a, step.locationId)
    const body = shipped(order)
    const elsewhere = { ...body.orderUpdate.fulfillments[0], locationId: 'elsewhere' }
    body.orderUpdate.fulfillments.unshift(...Array(4_999).fill(elsewhere))
    expect(await post(url, body)).toMatchObject({ status: 200 })
  })

  test('shippedAt in the forms of ISO 8601', async () => {
    for (const shippedAt of [
      '2026-03-02T10:00:00Z',
      '2026-03-02T10:00:00.123456+05:30',
      '2026-03-02T10:00:00-15:59',
      '2026-03-02T10:00:00',
      '9999-12-31T23:59:59Z',
    ]) {
      const order = await addPendingOrder(a, step.locationId)
      expect(await post(url, shipped(order, 10, { shippedAt })), shippedAt).toMatchObject({ status: 200 })
    }
  })
})

describe('Idempotency-Key', () => {
  test('the same key is the same message, whatever it says', async () => {
    const [first, second] = [await addPendingOrder(a, step.locationId), await addPendingOrder(a, step.locationId)]
    const key = { 'Idempotency-Key': 'K-1' }
    expect(await post(url, shipped(first), key)).toMatchObject({ status: 200 })
    expect(await post(url, shipped(second), key)).toMatchObject({ status: 204 })
    expect(await post(url, shipped(second), { 'Idempotency-Key': 'K-2' })).toMatchObject({ status: 200 })
  })

  test('a refused message does not use its key up', async () => {
    const order = await addPendingOrder(a, step.locationId)
    const key = { 'Idempotency-Key': 'K-3' }
    expect(await post(url, shipped(order, 11), key)).toMatchObject({ status: 400 })
    expect(await post(url, shipped(order, 10), key)).toMatchObject({ status: 200 })
  })

  test('400: longer than 255 characters, after keys and step', async () => {
    const key = { 'Idempotency-Key': 'x'.repeat(256) }
    expect(await post(url, '{}', key)).toMatchObject({
      status: 400,
      text: 'Header Idempotency-Key: must be at most 255 characters',
    })
    expect(await post(url, '{}', { ...key, Authorization: null })).toMatchObject({ status: 401 })
  })
})

test('the same message 50 times in parallel is applied once', async () => {
  const order = await addPendingOrder(a, step.locationId)
  await stock(a, order.item, step.locationId, 100)
  const answers = await Promise.all(Array.from({ length: 50 }, () => post(url, shipped(order))))
  expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(49).fill(204)])
  expect(await quantitiesOf(a, order.item, step.locationId)).toMatchObject({ available_to_sell: 90, committed: 0 })
})
