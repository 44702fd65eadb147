import { beforeEach, describe, expect, test } from 'vitest'
import { addChannel, addItem, addLocation, distinct, dryRun, type Item, quantitiesOf, succeeded } from '../builders.ts'
import { startLading } from '../harness/lading.ts'

const { a, b, operator } = await startLading()

interface FullOrder {
  id: string
  status: string
  customer_id: string | null
  billing_address_id: string | null
  address_to_id: string | null
  customer: { id: string; billing_address: { id: string } | null } | null
  billing_address: { id: string; city: string } | null
  address_to: { id: string } | null
  line_items: { id: string; sku: string; quantity: number; price: number | null; inventory_item_id: string }[]
}

let virtual: string
let channel: { id: string }
let shirts: Item
let mugs: Item
beforeEach(async () => {
  virtual = await addLocation(a, { is_virtual: true })
  channel = await addChannel(a, virtual)
  shirts = await addItem(a)
  mugs = await addItem(a)
})

const upsert = (order: object, patch?: boolean, headers = {}, rest = a.rest) =>
  rest.rpc<FullOrder>(
    'upsert_orders_full',
    { order: { business_id: a.id, ...order }, ...(patch === undefined ? {} : { patch }) },
    headers,
  )

const count = async (resource: string) => succeeded(await a.rest.get<object[]>(`/${resource}?select=id`)).length
const countAll = async () => ({
  orders: await count('orders'),
  lines: await count('order_line_items'),
  customers: await count('customers'),
  addresses: await count('addresses'),
})

const anOrder = () => ({
  channel_id: channel.id,
  channel_order_id: distinct('CH'),
  purchase_order_number: distinct('PO'),
  total_price: 4200,
  currency_code: 'EUR',
  external_ids: { erp: distinct('E') },
  customer: {
    name: 'Ada Byron',
    email: 'ada@example.com',
    billing_address: { city: 'London' },
    shipping_address: { city: 'Bath' },
  },
  billing_address: { city: 'Kiel', postal_code: '24103' },
  address_from: { city: 'Bremen' },
  address_to: { city: 'Bonn' },
  line_items: [
    { sku: shirts.sku, quantity: 3, price: 1200, external_ids: { line: 1 } },
    { inventory_item_id: mugs.id, quantity: 1, external_ids: { line: 2 } },
  ],
})

describe('upsert_orders_full', () => {
  test('creates an order with lines, customer and addresses, and commits its lines', async () => {
    const order = anOrder()
    const stored = succeeded(await upsert(order))
    expect(Object.keys(stored)).toContain('id')
    expect(stored).toMatchObject({
      ...order,
      status: 'open',
      order_type: 'sales_order',
      line_items: [
        { sku: shirts.sku, inventory_item_id: shirts.id, quantity: 3, price: 1200 },
        { sku: mugs.sku, inventory_item_id: mugs.id, quantity: 1 },
      ],
    })
    expect(stored.customer_id).toBe(stored.customer?.id)
    expect(stored.billing_address_id).toBe(stored.billing_address?.id)
    expect(await quantitiesOf(a, shirts, virtual)).toMatchObject({ committed: 3 })
    expect(await quantitiesOf(a, mugs, virtual)).toMatchObject({ committed: 1 })
  })

  for (const patch of [true, false]) {
    test(`repeated (patch ${patch}): the same order, lines, customer and addresses, none doubled`, async () => {
      const order = anOrder()
      const first = succeeded(await upsert(order, patch))
      const before = await countAll()
      const second = succeeded(await upsert(order, patch))
      expect(await countAll()).toEqual(before)
      expect(second.id).toBe(first.id)
      expect(second.customer).toMatchObject({ id: first.customer?.id })
      expect(second.customer?.billing_address?.id).toBe(first.customer?.billing_address?.id)
      expect(second.billing_address?.id).toBe(first.billing_address?.id)
      expect(second.line_items.map(({ id }) => id)).toEqual(first.line_items.map(({ id }) => id))
      expect(await quantitiesOf(a, shirts, virtual)).toMatchObject({ committed: 3 })
    })

    test(`its answer is accepted as input (patch ${patch}), and changes nothing`, async () => {
      const stored = succeeded(await upsert(anOrder()))
      const before = await countAll()
      const again = await upsert(stored, patch)
      expect(again).toMatchObject({ status: 200 })
      expect(again.body).toEqual(stored)
      expect(await countAll()).toEqual(before)
    })
  }

  test('matched by id, else channel_id and channel_order_id, else purchase_order_number, else external_ids', async () => {
    const order = anOrder()
    const { id } = succeeded(await upsert(order))
    for (const key of [
      { id },
      { channel_id: channel.id, channel_order_id: order.channel_order_id },
      { purchase_order_number: order.purchase_order_number },
      { external_ids: order.external_ids },
    ]) {
      expect(succeeded(await upsert({ ...key, total_tax: 7 })).id, Object.keys(key).join()).toBe(id)
    }
    expect(succeeded(await upsert({ external_ids: {} })).id).not.toBe(id)
    expect(succeeded(await upsert({})).id).not.toBe(id)
  })

  test('an order known by its purchase_order_number only is found when its channel’s number is given as well', async () => {
    const { purchase_order_number } = anOrder()
    const { id } = succeeded(await upsert({ purchase_order_number }))
    expect(
      succeeded(await upsert({ purchase_order_number, channel_id: channel.id, channel_order_id: distinct('CH') })).id,
    ).toBe(id)
  })

  test('external_ids of several orders: 409', async () => {
    const erp = distinct('E')
    succeeded(await upsert({ external_ids: { erp, part: 1 } }))
    succeeded(await upsert({ external_ids: { erp, part: 2 } }))
    expect(await upsert({ external_ids: { erp } })).toMatchObject({
      status: 409,
      body: { message: 'external_ids: match several records' },
    })
  })

  test('patch true: what is not named stays, lines that are not named stay', async () => {
    const order = anOrder()
    const first = succeeded(await upsert(order))
    const second = succeeded(
      await upsert({
        id: first.id,
        status: 'in_progress',
        billing_address: { city: 'Plön' },
        line_items: [{ sku: shirts.sku, quantity: 5, external_ids: { line: 1 } }],
      }),
    )
    expect(second).toMatchObject({
      status: 'in_progress',
      total_price: 4200,
      customer: { id: first.customer?.id, name: 'Ada Byron' },
      billing_address: { id: first.billing_address?.id, city: 'Plön', postal_code: '24103' },
    })
    expect(second.line_items).toMatchObject([
      { id: first.line_items[0]?.id, quantity: 5, price: 1200 },
      { id: first.line_items[1]?.id, quantity: 1 },
    ])
    expect(await quantitiesOf(a, shirts, virtual)).toMatchObject({ committed: 5 })
  })

  test('external_ids may be given later to an order that had none', async () => {
    const { id } = succeeded(await upsert({ purchase_order_number: distinct('PO') }))
    expect(succeeded(await upsert({ id, external_ids: { erp: 1 }, additional_fields: { gift: true } }))).toMatchObject({
      id,
      external_ids: { erp: 1 },
      additional_fields: { gift: true },
    })
  })

  test('patch false: the order becomes exactly what is given', async () => {
    const order = anOrder()
    const first = succeeded(await upsert({ ...order, status: 'hold' }))
    const second = succeeded(
      await upsert(
        {
          purchase_order_number: order.purchase_order_number,
          channel_id: channel.id,
          line_items: [{ sku: mugs.sku, quantity: 8, external_ids: { line: 2 } }],
        },
        false,
      ),
    )
    expect(second).toMatchObject({ id: first.id, status: 'open', total_price: null, external_ids: null })
    expect(second.line_items).toMatchObject([{ id: first.line_items[1]?.id, sku: mugs.sku, quantity: 8 }])
    expect(await quantitiesOf(a, shirts, virtual)).toMatchObject({ committed: 0 })
    expect(await quantitiesOf(a, mugs, virtual)).toMatchObject({ committed: 8 })
  })

  test('closing it releases its lines', async () => {
    const { id } = succeeded(await upsert(anOrder()))
    succeeded(await upsert({ id, status: 'closed' }))
    expect(await quantitiesOf(a, shirts, virtual)).toMatchObject({ committed: 0 })
  })

  test('all or nothing: a wrong line, and nothing is stored', async () => {
    const before = await countAll()
    expect(await upsert({ ...anOrder(), line_items: [{ sku: 'NO-SUCH-SKU', quantity: 1 }] })).toMatchObject({
      status: 400,
      body: { message: 'line_items[0].sku: no inventory item "NO-SUCH-SKU"' },
    })
    expect(await countAll()).toEqual(before)
  })

  test('a dry run answers the order in full, and stores nothing', async () => {
    const before = await countAll()
    expect(await upsert(anOrder(), true, dryRun)).toMatchObject({
      status: 200,
      body: { customer: { name: 'Ada Byron' }, line_items: [{ quantity: 3 }, { quantity: 1 }] },
    })
    expect(await countAll()).toEqual(before)
    expect(await quantitiesOf(a, shirts, virtual)).toMatchObject({ committed: 0 })
  })

  test('an id that a line of another order has is refused (409), and that line stays', async () => {
    const theirs = succeeded(await upsert(anOrder()))
    const answer = await upsert({ line_items: [{ id: theirs.line_items[0]?.id, sku: shirts.sku, quantity: 1 }] })
    expect(answer).toMatchObject({ status: 409 })
    expect(succeeded(await a.rest.get(`/order_line_items?order_id=eq.${theirs.id}`))).toHaveLength(2)
  })

  test("an id of another business's order is refused, to an operator too, and nothing of it changes", async () => {
    const theirs = succeeded(
      await b.rest.rpc<FullOrder>('upsert_orders_full', { order: { business_id: b.id, total_price: 1 } }),
    )
    for (const rest of [a.rest, operator]) {
      const answer = await upsert({ id: theirs.id, total_price: 2 }, true, {}, rest)
      expect([403, 409], JSON.stringify(answer.body)).toContain(answer.status)
    }
    expect(await b.rest.get(`/orders?id=eq.${theirs.id}`)).toMatchObject({ body: [{ total_price: 1 }] })
  })
})
