import { beforeEach, describe, expect, test } from 'vitest'
import { startLading } from '../../harness/lading.ts'
import { applied, expectNothingNew, expectRefused, postCallback } from '../callback.ts'
import { addPending, type Fulfillment, fulfillmentsOf, named, type Pending, patchFulfillment } from '../scenario.ts'
import { expectUnchanged } from '../snapshot.ts'

const lading = await startLading()
const { a, sql } = lading

let given: Pending
beforeEach(async () => {
  given = await addPending(lading)
})

const stored = async (): Promise<Fulfillment> => {
  const [fulfillment] = await fulfillmentsOf(a, given.order)
  if (fulfillment === undefined) throw new Error('the fulfillment is gone')
  return fulfillment
}
/** Posts PENDING with these fields, each time as a message of its own: nothing but fields changes. */
const merge = (fields: object, line: object = {}) =>
  given.post(
    { status: 'PENDING', ...fields, lineItems: [{ sku: given.item.sku, quantity: 10, ...line }] },
    { headers: { 'Idempotency-Key': crypto.randomUUID() } },
  )

describe('what a message says of a fulfillment is merged into it', () => {
  test('tracking, carrier, method, purchase order number; the step becomes its supplier', async () => {
    applied(
      await merge({
        trackingNumber: 'T1',
        shippingCompany: 'Ocean Line',
        shippingMethod: 'ground',
        purchaseOrderNumber: 'PO of the warehouse',
        supplierId: 'whatever they call us',
      }),
    )
    expect(await stored()).toMatchObject({
      tracking_number: 'T1',
      shipping_company: 'Ocean Line',
      shipping_method: 'ground',
      purchase_order_number: 'PO of the warehouse',
      supplier_id: given.step,
    })
  })

  test('fields that are absent or null stay as they are', async () => {
    applied(await merge({ trackingNumber: 'T1', shippingCompany: 'Ocean Line', trackingUrls: ['https://a.example'] }))
    applied(await merge({ shippingMethod: 'air', shippingCompany: null, trackingNumber: null, trackingUrls: null }))
    expect(await stored()).toMatchObject({
      tracking_number: 'T1',
      shipping_company: 'Ocean Line',
      shipping_method: 'air',
      tracking_urls: ['https://a.example'],
    })
  })

  test('trackingUrls is a union: in the order they came, none twice', async () => {
    applied(await merge({ trackingUrls: ['https://b.example', 'https://a.example', 'https://b.example'] }))
    applied(await merge({ trackingUrls: ['https://c.example', 'https://a.example'] }))
    expect((await stored()).tracking_urls).toEqual(['https://b.example', 'https://a.example', 'https://c.example'])
    expectNothingNew(await merge({ trackingUrls: ['https://a.example'] }))
    expectNothingNew(await merge({ trackingUrls: [] }))
  })

  test('additionalFields by name; a name given twice keeps its last value; values of any type', async () => {
    await patchFulfillment(a, given.fulfillment, {
      additional_fields: { warehouse_order_id: given.warehouseOrderId, kept: 1, changed: 'old' },
    })
    applied(
      await merge({
        additionalFields: [
          { name: 'changed', value: 'first' },
          { name: 'changed', value: 'last' },
          { name: 'list', value: [1, { two: 2 }] },
          { name: 'nothing', value: null },
        ],
      }),
    )
    expect((await stored()).additional_fields).toEqual({
      warehouse_order_id: given.warehouseOrderId,
      kept: 1,
      changed: 'last',
      list: [1, { two: 2 }],
      nothing: null,
    })
  })

  test('any other field, objects by key all the way down, anything else replaced', async () => {
    applied(await merge({ carton: { size: { width: 1, height: 2 }, labels: ['a', 'b'] }, pallet: 7, note: 'x' }))
    applied(await merge({ carton: { size: { height: 3, depth: 4 }, labels: ['c'] }, note: { text: 'y' } }))
    expect((await stored()).additional_fields).toEqual({
      warehouse_order_id: given.warehouseOrderId,
      carton: { size: { width: 1, height: 3, depth: 4 }, labels: ['c'] },
      pallet: 7,
      note: { text: 'y' },
    })
  })

  test('an object in additionalFields is merged by key too', async () => {
    applied(await merge({ additionalFields: named({ carton: { width: 1 } }) }))
    applied(await merge({ additionalFields: named({ carton: { height: 2 } }) }))
    expect((await stored()).additional_fields).toMatchObject({ carton: { width: 1, height: 2 } })
  })

  test('numbers keep all their digits', async () => {
    const digits = '12345678901234567890.123456789'
    const text = JSON.stringify({
      orderUpdate: {
        id: given.order.id,
        fulfillments: [
          {
            locationId: given.location,
            status: 'PENDING',
            weight: 'DIGITS',
            lineItems: [{ sku: given.item.sku, quantity: 10 }],
          },
        ],
      },
    }).replace('"DIGITS"', digits)
    applied(await postCallback(lading, given.step, text))
    const [row] = await sql<{ weight: string }[]>`
      select additional_fields ->> 'weight' as weight from api.fulfillments where id = ${given.fulfillment.id}`
    expect(row?.weight).toBe(digits)
  })

  test('what is merged while units ship is on what ships and on what is left on back order', async () => {
    applied(await given.ship(8, { trackingNumber: 'T1', carton: { width: 1 } }))
    const shipped = (await fulfillmentsOf(a, given.order)).find(({ status }) => status === 'OPEN')
    expect(shipped).toMatchObject({ tracking_number: 'T1', additional_fields: { carton: { width: 1 } } })
  })
})

describe('what a message says of a line is merged into it', () => {
  test('title, grams, prices, method, vendor, additionalFields and other fields', async () => {
    const line = {
      title: 'Shirt',
      grams: 12.5,
      price: 1999,
      shippingPrice: 300,
      shippingTax: 57,
      shippingMethod: 'air',
      vendor: 'Acme',
      additionalFields: named({ lot: 'L1', carton: { id: 1 } }),
      carton: { row: 2 },
    }
    applied(await merge({}, line))
    const [merged] = (await stored()).fulfillment_line_items
    expect(merged).toMatchObject({
      title: 'Shirt',
      grams: 12.5,
      price: 1999,
      shipping_price: 300,
      shipping_tax: 57,
      shipping_method: 'air',
      vendor: 'Acme',
      quantity: 10,
    })
    expect(merged?.additional_fields).toMatchObject({ lot: 'L1' })
    applied(await merge({}, { title: null, vendor: 'Bcme', additionalFields: named({ serial: 'S' }) }))
    const [again] = (await stored()).fulfillment_line_items
    expect(again).toMatchObject({ title: 'Shirt', vendor: 'Bcme', grams: 12.5 })
    expect(again?.additional_fields).toMatchObject({ lot: 'L1', serial: 'S' })
  })

  test('of a line that has shipped as well: only the quantity is fixed then', async () => {
    applied(await given.ship(10, { trackingNumber: 'T1' }))
    expect(
      applied(
        await given.post({ trackingNumber: 'T2', lineItems: [{ sku: given.item.sku, quantity: 10, vendor: 'Acme' }] }),
      ),
    ).toMatchObject({ inventoryAdjustmentCount: 0, orderUpdateCount: 1 })
    expect((await stored()).fulfillment_line_items).toMatchObject([{ vendor: 'Acme', quantity: 10 }])
  })

  test('the part that ships carries it', async () => {
    applied(
      await given.post(
        { lineItems: [{ sku: given.item.sku, quantity: 3, additionalFields: named({ lot: 'L1' }) }] },
        { partialShipments: true },
      ),
    )
    const part = (await fulfillmentsOf(a, given.order)).find(({ status }) => status === 'OPEN')
    expect(part?.fulfillment_line_items).toMatchObject([{ quantity: 3, additional_fields: { lot: 'L1' } }])
  })
})

describe('id, business, order, location and quantities never come from the message', () => {
  test('whatever they are called', async () => {
    const { a: mine, b: other } = lading
    const before = await stored()
    applied(
      await merge(
        {
          trackingNumber: 'T1',
          businessId: other.id,
          business_id: other.id,
          orderId: crypto.randomUUID(),
          order_id: crypto.randomUUID(),
          location_id: crypto.randomUUID(),
          quantity: 99,
          creationTime: '2000-01-01T00:00:00Z',
          creation_time: '2000-01-01T00:00:00Z',
        },
        {
          quantity: 4,
          inventoryItemId: crypto.randomUUID(),
          fulfillment_id: crypto.randomUUID(),
          order_line_item_id: crypto.randomUUID(),
        },
      ),
    )
    const after = await stored()
    expect(after).toMatchObject({
      id: before.id,
      business_id: mine.id,
      order_id: given.order.id,
      location_id: given.location,
      creation_time: (before as { creation_time?: string }).creation_time,
      fulfillment_line_items: [
        {
          id: given.fulfillment.lines[0]?.id,
          fulfillment_id: before.id,
          quantity: 10,
          sku: given.item.sku,
          inventory_item_id: given.item.id,
          order_line_item_id: given.order.lines[0]?.id,
        },
      ],
    })
    expect(await given.stock()).toBe('100/10')
  })

  test('the order and its lines are not touched: other fields of the order object are ignored', async () => {
    const order = () => a.rest.get(`/orders?select=*,order_line_items(*)&id=eq.${given.order.id}`)
    const before = await order()
    applied(
      await given.post(
        { lineItems: [{ sku: given.item.sku, quantity: 10 }] },
        {
          order: {
            id: given.order.id,
            status: 'closed',
            totalPrice: 1,
            lineItems: [{ quantity: 99 }],
            additionalFields: named({ x: 1 }),
          },
        },
      ),
    )
    expect((await order()).body).toEqual(before.body)
  })
})

describe('a field of the wrong type: 400 naming its path, nothing changes', () => {
  const cases: [string, object, object, string][] = [
    ['trackingNumber', { trackingNumber: 1 }, {}, 'orderUpdate.fulfillments[0].trackingNumber'],
    ['trackingUrls', { trackingUrls: 'https://a.example' }, {}, 'orderUpdate.fulfillments[0].trackingUrls'],
    ['an entry of trackingUrls', { trackingUrls: [1] }, {}, 'orderUpdate.fulfillments[0].trackingUrls[0]'],
    ['shippedAt', { shippedAt: 'yesterday' }, {}, 'orderUpdate.fulfillments[0].shippedAt'],
    ['additionalFields', { additionalFields: { a: 1 } }, {}, 'orderUpdate.fulfillments[0].additionalFields'],
    [
      'a nameless one',
      { additionalFields: [{ value: 1 }] },
      {},
      'orderUpdate.fulfillments[0].additionalFields[0].name',
    ],
    ['status', { status: 'SHIPPED' }, {}, 'orderUpdate.fulfillments[0].status'],
    ['price', {}, { price: '1' }, 'orderUpdate.fulfillments[0].lineItems[0].price'],
    ['half a minor unit', {}, { price: 0.5 }, 'orderUpdate.fulfillments[0].lineItems[0].price'],
    ['NUL', { note: 'a\u0000b' }, {}, 'orderUpdate.fulfillments[0].note'],
    ['half a character', { note: '\ud800' }, {}, 'orderUpdate.fulfillments[0].note'],
  ]
  for (const [what, fields, line, path] of cases) {
    test(what, async () => {
      await expectUnchanged(sql, async () => expectRefused(await merge(fields, line), path))
    })
  }

  test('prices written 5.0 are 5', async () => {
    const text = JSON.stringify({
      orderUpdate: {
        id: given.order.id,
        fulfillments: [
          {
            locationId: given.location,
            status: 'PENDING',
            lineItems: [{ sku: given.item.sku, quantity: 10, price: 5, shippingPrice: 5, shippingTax: 5 }],
          },
        ],
      },
    }).replace(/rice":5|Tax":5/g, '$&.0')
    applied(await postCallback(lading, given.step, text))
    expect((await stored()).fulfillment_line_items).toMatchObject([{ price: 5, shipping_price: 5, shipping_tax: 5 }])
  })
})
