import { beforeEach, describe, expect, test } from 'vitest'
import {
  add,
  addChannel,
  addItem,
  addLocation,
  addOrder,
  adjust,
  type Item,
  ledgerOf,
  quantitiesOf,
  succeeded,
  verify,
} from '../builders.ts'
import { startLading } from '../harness/lading.ts'

const { a } = await startLading()

let virtual: string
let channel: { id: string }
let shirts: Item
beforeEach(async () => {
  virtual = await addLocation(a, { is_virtual: true })
  channel = await addChannel(a, virtual)
  shirts = await addItem(a)
})

const committed = async (item: Item = shirts, location = virtual) => (await quantitiesOf(a, item, location)).committed
const patchOrder = async (order: { id: string }, fields: object) =>
  succeeded(await a.rest.patch(`/orders?id=eq.${order.id}`, fields))
const patchLine = async (line: { id: string } | undefined, fields: object) =>
  succeeded(await a.rest.patch(`/order_line_items?id=eq.${line?.id}`, fields))

describe("sales order lines are committed at their channel's virtual location", () => {
  for (const status of ['open', 'in_progress', 'pending', 'hold']) {
    test(`an order in ${status}: committed +q, one entry per line`, async () => {
      const { lines } = await addOrder(a, { channel, status, lines: [{ item: shirts, quantity: 5 }] })
      expect(await quantitiesOf(a, shirts, virtual)).toMatchObject({
        committed: 5,
        available_to_sell: 0,
        available_to_promise: -5,
      })
      expect(await ledgerOf(a, `cause_id=eq.${lines[0]?.id}`)).toMatchObject([
        { cause_type: 'order_line_item', inventory_status: 'committed', quantity: 5, location_id: virtual },
      ])
    })
  }

  for (const status of ['closed', 'canceled']) {
    test(`an order in ${status}: none; brought there: released; reopened: committed again`, async () => {
      await addOrder(a, { channel, status, lines: [{ item: shirts, quantity: 5 }] })
      expect(await committed()).toBe(0)
      const order = await addOrder(a, { channel, lines: [{ item: shirts, quantity: 4 }] })
      await patchOrder(order, { status })
      expect(await committed()).toBe(0)
      await patchOrder(order, { status })
      expect(await committed()).toBe(0)
      await patchOrder(order, { status: 'in_progress' })
      expect(await committed()).toBe(4)
      expect(await ledgerOf(a, `cause_id=eq.${order.lines[0]?.id}`)).toHaveLength(3)
    })
  }

  test('moving between active states books nothing', async () => {
    const order = await addOrder(a, { channel, lines: [{ item: shirts, quantity: 4 }] })
    for (const status of ['hold', 'pending', 'in_progress', 'open']) await patchOrder(order, { status })
    expect(await ledgerOf(a, `cause_id=eq.${order.lines[0]?.id}`)).toHaveLength(1)
  })

  test('follows quantity changes, down to 0', async () => {
    const order = await addOrder(a, { channel, lines: [{ item: shirts, quantity: 4 }] })
    for (const quantity of [9, 2, 0, 6]) {
      await patchLine(order.lines[0], { quantity })
      expect(await committed()).toBe(quantity)
    }
    await patchLine(order.lines[0], { quantity: 6, vendor: 'Acme' })
    expect(await ledgerOf(a, `cause_id=eq.${order.lines[0]?.id}`)).toHaveLength(5)
  })

  test('a quantity that changes while the order is closed counts when it is reopened', async () => {
    const order = await addOrder(a, { channel, lines: [{ item: shirts, quantity: 4 }] })
    await patchOrder(order, { status: 'closed' })
    await patchLine(order.lines[0], { quantity: 11 })
    expect(await committed()).toBe(0)
    await patchOrder(order, { status: 'open' })
    expect(await committed()).toBe(11)
  })

  test('follows the item of the line', async () => {
    const mugs = await addItem(a)
    const order = await addOrder(a, { channel, lines: [{ item: shirts, quantity: 4 }] })
    await patchLine(order.lines[0], { inventory_item_id: mugs.id, quantity: 3 })
    expect([await committed(shirts), await committed(mugs)]).toEqual([0, 3])
    await patchLine(order.lines[0], { inventory_item_id: null })
    expect(await committed(mugs)).toBe(0)
    await patchLine(order.lines[0], { inventory_item_id: shirts.id })
    expect(await committed(shirts)).toBe(3)
  })

  test('a line removed is released; so are the lines of an order removed', async () => {
    const order = await addOrder(a, {
      channel,
      lines: [
        { item: shirts, quantity: 4 },
        { item: shirts, quantity: 5 },
      ],
    })
    expect(await committed()).toBe(9)
    succeeded(await a.rest.delete(`/order_line_items?id=eq.${order.lines[0]?.id}`))
    expect(await committed()).toBe(5)
    succeeded(await a.rest.delete(`/orders?id=eq.${order.id}`))
    expect(await committed()).toBe(0)
  })

  test('a line moved to another order is committed as that order asks', async () => {
    const order = await addOrder(a, { channel, lines: [{ item: shirts, quantity: 4 }] })
    const closed = await addOrder(a, { channel, status: 'closed' })
    const elsewhere = await addLocation(a)
    const other = await addOrder(a, { channel: await addChannel(a, elsewhere) })
    await patchLine(order.lines[0], { order_id: closed.id })
    expect(await committed()).toBe(0)
    await patchLine(order.lines[0], { order_id: other.id })
    expect([await committed(), await committed(shirts, elsewhere)]).toEqual([0, 4])
  })

  test('the order moves to another channel, to one without location, to none', async () => {
    const elsewhere = await addLocation(a)
    const order = await addOrder(a, { channel, lines: [{ item: shirts, quantity: 4 }] })
    await patchOrder(order, { channel_id: (await addChannel(a, elsewhere)).id })
    expect([await committed(), await committed(shirts, elsewhere)]).toEqual([0, 4])
    await patchOrder(order, { channel_id: (await addChannel(a, null)).id })
    expect([await committed(), await committed(shirts, elsewhere)]).toEqual([0, 0])
    await patchOrder(order, { channel_id: channel.id })
    expect(await committed()).toBe(4)
    await patchOrder(order, { channel_id: null })
    expect(await committed()).toBe(0)
  })

  test('the channel moves to another location: its active orders move with it', async () => {
    const elsewhere = await addLocation(a)
    await addOrder(a, { channel, lines: [{ item: shirts, quantity: 4 }] })
    await addOrder(a, { channel, status: 'hold', lines: [{ item: shirts, quantity: 3 }] })
    await addOrder(a, { channel, status: 'closed', lines: [{ item: shirts, quantity: 50 }] })
    const move = async (location_id: string | null) =>
      succeeded(await a.rest.patch(`/channels?id=eq.${channel.id}`, { location_id }))
    await move(elsewhere)
    expect([await committed(), await committed(shirts, elsewhere)]).toEqual([0, 7])
    await move(null)
    expect([await committed(), await committed(shirts, elsewhere)]).toEqual([0, 0])
    await move(virtual)
    expect(await committed()).toBe(7)
    succeeded(await a.rest.patch(`/channels?id=eq.${channel.id}`, { is_enabled: false }))
    expect(await committed()).toBe(7)
  })

  test('purchase and transfer orders commit nothing; the type may change', async () => {
    for (const order_type of ['purchase_order', 'stock_transfer_order']) {
      const order = await addOrder(a, { channel, order_type, lines: [{ item: shirts, quantity: 4 }] })
      expect(await committed()).toBe(0)
      await patchOrder(order, { order_type: 'sales_order' })
      expect(await committed()).toBe(4)
      await patchOrder(order, { order_type })
      expect(await committed()).toBe(0)
    }
  })

  test('no channel, a channel without location, a line without item: nothing', async () => {
    const before = (await ledgerOf(a)).length
    await addOrder(a, { channel: null, lines: [{ item: shirts, quantity: 4 }] })
    await addOrder(a, { channel: await addChannel(a, null), lines: [{ item: shirts, quantity: 4 }] })
    const order = await addOrder(a, { channel })
    await add(a, 'order_line_items', { order_id: order.id, quantity: 4 })
    expect(await ledgerOf(a)).toHaveLength(before)
  })

  test('committed stops at 0 when units were taken off by hand', async () => {
    const order = await addOrder(a, { channel, lines: [{ item: shirts, quantity: 4 }] })
    succeeded(await adjust(a, [{ sku: shirts.sku, location_id: virtual, inventory_status: 'committed', quantity: -3 }]))
    await patchOrder(order, { status: 'closed' })
    expect(await committed()).toBe(0)
    expect(await verify(a)).toEqual([])
  })

  test('one PATCH of many orders books each line once', async () => {
    const orders = await Promise.all(
      [1, 2, 3].map((quantity) => addOrder(a, { channel, lines: [{ item: shirts, quantity }] })),
    )
    expect(await committed()).toBe(6)
    succeeded(await a.rest.patch(`/orders?id=in.(${orders.map(({ id }) => id).join()})`, { status: 'canceled' }))
    expect(await committed()).toBe(0)
    expect(await verify(a)).toEqual([])
  })
})
