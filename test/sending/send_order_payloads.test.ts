import { expect, test } from 'vitest'
import { add, addChannel, addItem, addLocation, addOrder, distinct, type Item, succeeded } from '../builders.ts'
import { addFulfillment } from '../fulfillment/scenario.ts'
import { startLading } from '../harness/lading.ts'
import { addSendingStep } from './sending_builders.ts'

const lading = await startLading()
const { a, sql } = lading

const payloadOf = async (fulfillment: { id: string }) => {
  const [row] = await sql<{ payload: Record<string, unknown> }[]>`
    select payload from internal.send_order_payloads(array[${fulfillment.id}::uuid])`
  return row?.payload
}
const addAddress = (name: string, additional_fields: object | null) =>
  add(a, 'addresses', {
    name,
    first_name: 'Ada',
    last_name: 'Byron',
    address_1: '12 St James Square',
    city: 'London',
    province: 'Greater London',
    province_code: 'LND',
    postal_code: 'SW1Y 4JH',
    country: 'United Kingdom',
    country_code: 'GB',
    phone: '+44 20 1',
    additional_fields,
  })
const addressPayload = (name: string, additionalFields: object[]) => ({
  additionalFields,
  address1: '12 St James Square',
  city: 'London',
  country: 'United Kingdom',
  countryCode: 'GB',
  firstName: 'Ada',
  lastName: 'Byron',
  name,
  phone: '+44 20 1',
  postalCode: 'SW1Y 4JH',
  province: 'Greater London',
  provinceCode: 'LND',
})
const addSku = async (fields: object): Promise<Item> =>
  add<Item>(a, 'inventory_items', { sku: distinct('SKU'), ...fields })

test('every field of the interface, in its type', async () => {
  const [billing, shipping] = [await addAddress('Billing', { floor: 3 }), await addAddress('Shipping', null)]
  const customer = await add(a, 'customers', {
    email: 'ada@example.com',
    first_name: 'Ada',
    last_name: 'Byron',
    billing_address_id: billing.id,
    shipping_address_id: shipping.id,
    additional_fields: { vip: true, note: 'x' },
  })
  const legacyId = 4_711
  const location = await addLocation(a, { legacy_id: legacyId })
  const channel = await addChannel(a, null)
  const shirts = await addSku({ title: 'Shirt' })
  const numbers = { channel_order_id: distinct('CO'), purchase_order_number: distinct('PO') }
  const order = await addOrder(a, {
    channel,
    ...numbers,
    customer_id: customer.id,
    purchased_time: '2026-02-03T04:05:06.789+02:00',
    additional_fields: { gift: true, count: 3, nested: { a: 1 } },
  })
  const line = await add(a, 'order_line_items', {
    order_id: order.id,
    inventory_item_id: shirts.id,
    quantity: 10,
    price: 1999,
    grams: 12.5,
  })
  const fulfillment = await addFulfillment(a, {
    order,
    location,
    lines: [],
    status: 'NEW',
    shipping_company: 'Ocean Line',
    shipping_method: 'ground',
    additional_fields: { warehouse_order_id: 'W 1', count: 4 },
  })
  const { id } = await add(a, 'fulfillment_line_items', {
    fulfillment_id: fulfillment.id,
    inventory_item_id: shirts.id,
    order_line_item_id: line.id,
    quantity: 7,
    additional_fields: { engraving: 'A', size: 4 },
  })
  await addSendingStep(a, null, {
    warehouse_location_map: [
      { warehouse: 'W1', company: 'Acme 3PL', locationId: String(legacyId), name: 'East', id: 'E-1', zipCode: '10115' },
    ],
  })

  expect(await payloadOf(fulfillment)).toEqual({
    additionalFields: { gift: 'true', count: '4', nested: '{"a": 1}', warehouse_order_id: 'W 1' },
    customer: {
      additionalFields: [
        { name: 'note', value: 'x' },
        { name: 'vip', value: 'true' },
      ],
      billingAddress: addressPayload('Billing', [{ name: 'floor', value: '3' }]),
      shippingAddress: addressPayload('Shipping', []),
      email: 'ada@example.com',
      firstName: 'Ada',
      lastName: 'Byron',
    },
    lineItems: [
      {
        additionalFields: { engraving: 'A', size: '4' },
        id,
        price: '1999',
        quantity: 7,
        sku: shirts.sku,
        grams: '12.5',
        title: 'Shirt',
      },
    ],
    locationId: String(legacyId),
    purchasedAt: expect.toSatisfy((text: string) => Date.parse(text) === Date.parse('2026-02-03T04:05:06.789+02:00')),
    purchaseOrderNumber: numbers.purchase_order_number,
    shippingCompany: 'Ocean Line',
    shippingMethod: 'ground',
    status: 'NEW',
    warehouseOrderId: 'W 1',
    warehouseCode: 'W1',
    warehouseCompany: 'Acme 3PL',
    warehouseName: 'East',
    warehouseId: 'E-1',
    warehouseZipcode: '10115',
    channelOrderId: numbers.channel_order_id,
    channelId: channel.id,
    orderId: order.id,
  })
})

test("the order's own addresses go before those of the customer", async () => {
  const addresses = await Promise.all(['B1', 'S1', 'B2', 'S2'].map((name) => addAddress(name, null)))
  const [b1, s1, b2, s2] = addresses.map(({ id }) => id)
  const customer = await add(a, 'customers', { billing_address_id: b1, shipping_address_id: s1 })
  const [item, location] = [await addItem(a), await addLocation(a)]
  await addSendingStep(a, location)
  const lines = [{ item, quantity: 1 }]
  const order = await addOrder(a, {
    channel: null,
    lines,
    customer_id: customer.id,
    billing_address_id: b2,
    address_to_id: s2,
  })
  const fulfillment = await addFulfillment(a, { order, location, lines, status: 'NEW' })
  expect(await payloadOf(fulfillment)).toMatchObject({
    customer: { billingAddress: { name: 'B2' }, shippingAddress: { name: 'S2' } },
  })
})

test('an order of which little is known has the same fields, ISO 8601 purchasedAt from its creation', async () => {
  const [item, location] = [await addItem(a), await addLocation(a)]
  await addSendingStep(a, location)
  const lines = [{ item, quantity: 1 }]
  const order = await addOrder(a, { channel: null, lines })
  const fulfillment = await addFulfillment(a, { order, location, lines, status: 'NEW' })
  const payload = await payloadOf(fulfillment)
  expect(payload).toMatchObject({
    additionalFields: {},
    customer: {
      additionalFields: [],
      billingAddress: { additionalFields: [], address1: null },
      shippingAddress: { additionalFields: [], address1: null },
      email: null,
    },
    lineItems: [{ additionalFields: {}, price: null, grams: null, quantity: 1, sku: item.sku }],
    purchaseOrderNumber: null,
    channelId: null,
    orderId: order.id,
    locationId: location,
  })
  expect(payload?.purchasedAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/)
})

test("the fulfillment's purchase order number goes before the order's", async () => {
  const [item, location] = [await addItem(a), await addLocation(a)]
  await addSendingStep(a, location)
  const lines = [{ item, quantity: 1 }]
  const order = await addOrder(a, { channel: null, lines, purchase_order_number: distinct('PO') })
  const fulfillment = await addFulfillment(a, { order, location, lines, status: 'NEW', purchase_order_number: 'WPO' })
  expect(await payloadOf(fulfillment)).toMatchObject({ purchaseOrderNumber: 'WPO' })
})

test('none where the location is not mapped', async () => {
  const [item, location] = [await addItem(a), await addLocation(a)]
  const lines = [{ item, quantity: 1 }]
  const order = await addOrder(a, { channel: null, lines })
  const fulfillment = await addFulfillment(a, { order, location, lines, status: 'NEW' })
  expect((await payloadOf(fulfillment)) ?? null).toBeNull()
  expect(succeeded(await a.rest.get(`/fulfillments?id=eq.${fulfillment.id}`))).toMatchObject([{ status: 'NEW' }])
})
