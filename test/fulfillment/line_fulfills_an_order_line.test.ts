import { beforeEach, describe, expect, test } from 'vitest'
import { add, addItem, addLocation, addOrder, type Item, succeeded } from '../builders.ts'
import { startLading } from '../harness/lading.ts'
import { addFulfillment, type FulfillmentLine } from './scenario.ts'

const { a, b } = await startLading()

let shirts: Item
let mugs: Item
let order: { id: string; lines: { id: string }[] }
let fulfillment: { id: string }
beforeEach(async () => {
  ;[shirts, mugs] = await Promise.all([addItem(a), addItem(a)])
  const location = await addLocation(a)
  order = await addOrder(a, {
    channel: null,
    lines: [
      { item: shirts, quantity: 5 },
      { item: mugs, quantity: 5 },
      { item: shirts, quantity: 8 },
    ],
  })
  fulfillment = await addFulfillment(a, { order, location, lines: [] })
})
const addLine = (fields: object) =>
  add<FulfillmentLine>(a, 'fulfillment_line_items', { fulfillment_id: fulfillment.id, ...fields })
const post = (fields: object) =>
  a.rest.post('/fulfillment_line_items', { business_id: a.id, fulfillment_id: fulfillment.id, quantity: 1, ...fields })

describe('a fulfillment line fulfills a line of its order', () => {
  test('the one that it names', async () => {
    const line = await addLine({ inventory_item_id: shirts.id, order_line_item_id: order.lines[0]?.id, quantity: 2 })
    expect(line.order_line_item_id).toBe(order.lines[0]?.id)
  })

  test('else the line of its item with most left to fulfill', async () => {
    const named: string[] = []
    for (const quantity of [4, 4, 3]) {
      named.push((await addLine({ inventory_item_id: shirts.id, quantity })).order_line_item_id)
    }
    const [first, , third] = order.lines.map(({ id }) => id)
    expect(named).toEqual([third, first, third])
  })

  test('sku, title, price and grams are those of item and order line unless given', async () => {
    succeeded(await a.rest.patch(`/inventory_items?id=eq.${shirts.id}`, { title: 'Shirt' }))
    succeeded(await a.rest.patch(`/order_line_items?id=eq.${order.lines[2]?.id}`, { price: 1999, grams: 12.5 }))
    expect(await addLine({ inventory_item_id: shirts.id, quantity: 1 })).toMatchObject({
      sku: shirts.sku,
      title: 'Shirt',
      price: 1999,
      grams: 12.5,
    })
    const given = { sku: 'theirs', title: 'T', price: 1, grams: 2 }
    expect(await addLine({ inventory_item_id: shirts.id, quantity: 1, ...given })).toMatchObject(given)
  })

  test('an item that the order does not have: 409', async () => {
    expect(await post({ inventory_item_id: (await addItem(a)).id })).toMatchObject({ status: 409 })
  })

  test('an order line of another item, or of another order: 409', async () => {
    const other = await addOrder(a, { channel: null, lines: [{ item: shirts, quantity: 5 }] })
    for (const order_line_item_id of [order.lines[1]?.id, other.lines[0]?.id, crypto.randomUUID()]) {
      expect(await post({ inventory_item_id: shirts.id, order_line_item_id })).toMatchObject({ status: 409 })
    }
    const line = await addLine({ inventory_item_id: shirts.id, quantity: 1 })
    for (const fields of [{ order_line_item_id: other.lines[0]?.id }, { inventory_item_id: mugs.id }]) {
      expect(await a.rest.patch(`/fulfillment_line_items?id=eq.${line.id}`, fields)).toMatchObject({ status: 409 })
    }
  })

  test('a fulfillment or an item of another business, or none: 409', async () => {
    const theirs = await addItem(b)
    expect(await post({ inventory_item_id: theirs.id })).toMatchObject({ status: 409 })
    expect(await post({ inventory_item_id: shirts.id, fulfillment_id: crypto.randomUUID() })).toMatchObject({
      status: 409,
    })
    expect(
      await b.rest.post('/fulfillment_line_items', {
        business_id: b.id,
        fulfillment_id: fulfillment.id,
        inventory_item_id: theirs.id,
        quantity: 1,
      }),
    ).toMatchObject({ status: 409 })
  })

  test('an order line that is being fulfilled is not removed: 409', async () => {
    await addLine({ inventory_item_id: mugs.id, quantity: 1 })
    expect((await a.rest.delete(`/order_line_items?id=eq.${order.lines[1]?.id}`)).status).toBe(409)
    expect((await a.rest.delete(`/order_line_items?id=eq.${order.lines[0]?.id}`)).status).toBe(204)
  })

  test('an order line that is being fulfilled keeps its item and its order: 409', async () => {
    await addLine({ inventory_item_id: mugs.id, quantity: 1 })
    const other = await addOrder(a, { channel: null })
    for (const fields of [{ inventory_item_id: shirts.id }, { inventory_item_id: null }, { order_id: other.id }]) {
      expect((await a.rest.patch(`/order_line_items?id=eq.${order.lines[1]?.id}`, fields)).status).toBe(409)
    }
  })
})
