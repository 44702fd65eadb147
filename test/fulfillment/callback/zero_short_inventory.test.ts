import { beforeEach, describe, expect, test } from 'vitest'
import {
  addChannel,
  addItem,
  addLocation,
  addOrder,
  adjust,
  type Item,
  ledgerOf,
  quantitiesOf,
  stock,
  succeeded,
  verify,
} from '../../builders.ts'
import { startLading } from '../../harness/lading.ts'
import { applied, postCallback } from '../callback.ts'
import { addFulfillment, addPending, addStep, stockOf } from '../scenario.ts'

const lading = await startLading()
const { a } = lading
const zeroes = { zeroes_short_inventory: true }

describe('a step with zeroes_short_inventory: what a warehouse ships short is promised no more', () => {
  test('10 pending of 100, 8 ship: 100/10 becomes 0/0, one SET', async () => {
    const given = await addPending(lading, { stepFields: zeroes })
    expect(applied(await given.ship(8))).toEqual({
      inventoryAdjustmentCount: 3,
      inventorySetCount: 1,
      orderActivityCount: 0,
      orderUpdateCount: 1,
    })
    expect([await given.states(), await given.stock()]).toEqual([['BACKORDER 2', 'OPEN 8'], '0/0'])
    expect(
      await ledgerOf(a, `inventory_item_id=eq.${given.item.id}&operation=eq.SET&cause_id=not.is.null`),
    ).toMatchObject([
      { inventory_status: 'available_to_sell', quantity: -92, quantity_after: 0, location_id: given.location },
    ])
    expect(await verify(a)).toEqual([])
  })

  test('units that other orders hold and the reserve are left: available_to_promise is 0', async () => {
    const given = await addPending(lading, { stepFields: zeroes })
    const lines = [{ item: given.item, quantity: 20 }]
    const other = await addOrder(a, { channel: null, lines })
    await addFulfillment(a, { order: other, location: given.location, lines })
    succeeded(
      await adjust(a, [{ sku: given.item.sku, location_id: given.location, inventory_status: 'reserve', quantity: 5 }]),
    )
    expect(await given.stock()).toBe('100/30')
    applied(await given.ship(8))
    expect(await quantitiesOf(a, given.item, given.location)).toMatchObject({
      available_to_sell: 25,
      committed: 20,
      reserve: 5,
      available_to_promise: 0,
    })
  })

  test('nothing left to promise: no SET', async () => {
    const given = await addPending(lading, { available: 5, stepFields: zeroes })
    expect(applied(await given.ship(8))).toMatchObject({ inventorySetCount: 0 })
    expect(await given.stock()).toBe('-3/0')
  })

  test('without the setting the rest is still promised', async () => {
    const given = await addPending(lading)
    expect(applied(await given.ship(8))).toMatchObject({ inventorySetCount: 0 })
    expect(await given.stock()).toBe('92/0')
  })

  test('a whole shipment, and parts: no SET', async () => {
    const whole = await addPending(lading, { stepFields: zeroes })
    expect(applied(await whole.ship(10))).toMatchObject({ inventorySetCount: 0 })
    expect(await whole.stock()).toBe('90/0')
    const parts = await addPending(lading, { stepFields: zeroes })
    expect(applied(await parts.ship(8, {}, { partialShipments: true }))).toMatchObject({ inventorySetCount: 0 })
    expect(await parts.stock()).toBe('92/2')
  })
})

describe('with a virtual location', () => {
  let virtual: string
  let warehouse: string
  let items: Item[]
  let step: string
  let order: { id: string }
  beforeEach(async () => {
    ;[virtual, warehouse] = await Promise.all([addLocation(a, { is_virtual: true }), addLocation(a)])
    items = await Promise.all([addItem(a), addItem(a), addItem(a)])
    step = await addStep(a, [warehouse], { ...zeroes, virtual_location_id: virtual })
    const lines = items.map((item) => ({ item, quantity: 10 }))
    for (const item of items) {
      await stock(a, item, warehouse, 100)
      await stock(a, item, virtual, 500)
    }
    order = await addOrder(a, { channel: await addChannel(a, virtual), lines })
    await addFulfillment(a, { order, location: warehouse, lines })
  })
  const numbers = (location: string) => Promise.all(items.map((item) => stockOf(a, item, location)))
  const ship = (...quantities: number[]) =>
    postCallback(lading, step, {
      orderUpdate: {
        id: order.id,
        fulfillments: [
          {
            locationId: warehouse,
            status: 'OPEN',
            lineItems: quantities.flatMap((quantity, n) => (quantity === 0 ? [] : [{ sku: items[n]?.sku, quantity }])),
          },
        ],
      },
    })

  test('the same units are taken off there; items that are not short stay', async () => {
    expect([await numbers(warehouse), await numbers(virtual)]).toEqual([
      ['100/10', '100/10', '100/10'],
      ['500/10', '500/10', '500/10'],
    ])
    expect(applied(await ship(10, 8, 0))).toMatchObject({ inventoryAdjustmentCount: 10, inventorySetCount: 4 })
    expect([await numbers(warehouse), await numbers(virtual)]).toEqual([
      ['90/0', '0/0', '0/0'],
      ['490/0', '400/2', '400/10'],
    ])
    expect(await verify(a)).toEqual([])
  })

  test('never more than is to promise there: what is committed at the virtual location stays covered', async () => {
    for (const item of items) await stock(a, item, virtual, 30)
    applied(await ship(10, 8, 0))
    expect([await numbers(warehouse), await numbers(virtual)]).toEqual([
      ['90/0', '0/0', '0/0'],
      ['20/0', '2/2', '10/10'],
    ])
  })
})
