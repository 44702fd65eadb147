import { beforeEach, describe, expect, test } from 'vitest'
import { addChannel, addItem, addLocation, addOrder, type Item, quantitiesOf, stock, verify } from '../../builders.ts'
import { startLading } from '../../harness/lading.ts'
import { applied, expectNothingNew, expectRefused, postCallback } from '../callback.ts'
import {
  addFulfillment,
  addPending,
  addStep,
  fulfillmentsOf,
  named,
  type Pending,
  statesOf,
  stockOf,
} from '../scenario.ts'
import { expectUnchanged } from '../snapshot.ts'

const lading = await startLading()
const { a, b, sql } = lading

describe('the location map of the step', () => {
  let given: Pending
  let elsewhere: string
  beforeEach(async () => {
    given = await addPending(lading)
    elsewhere = await addLocation(a)
  })
  const post = (...locations: string[]) =>
    postCallback(lading, given.step, {
      orderUpdate: {
        id: given.order.id,
        fulfillments: locations.map((locationId) => ({
          locationId,
          status: 'OPEN',
          lineItems: [{ sku: given.item.sku, quantity: 10 }],
        })),
      },
    })

  test('none of the locations mapped: 204, nothing changes', async () => {
    const foreign = await addLocation(b)
    await expectUnchanged(sql, async () => {
      for (const location of [elsewhere, foreign, crypto.randomUUID(), 'nonsense'])
        expectNothingNew(await post(location))
      expectNothingNew(await post(elsewhere, foreign))
      expectNothingNew(await post())
    })
  })

  test('a mapped and an unmapped one: the mapped one is applied', async () => {
    const lines = [{ item: given.item, quantity: 1 }]
    const other = await addOrder(a, { channel: null, lines })
    await addFulfillment(a, { order: other, location: elsewhere, lines })
    expect(applied(await post(elsewhere, given.location))).toMatchObject({ inventoryAdjustmentCount: 2 })
    expect([await given.states(), await given.stock(), await stockOf(a, given.item, elsewhere)]).toEqual([
      ['OPEN 10'],
      '90/0',
      '0/1',
    ])
  })

  test('a fulfillment at an unmapped location is not changed, nor found by its id', async () => {
    await a.rest.patch(`/fulfillments?id=eq.${given.fulfillment.id}`, { location_id: elsewhere })
    await expectUnchanged(sql, async () => {
      expectNothingNew(await given.post({ id: given.fulfillment.id, locationId: elsewhere, lineItems: [] }))
    })
  })

  test('an order that is not there is 400 all the same', async () => {
    await expectUnchanged(sql, async () => {
      expectRefused(
        await postCallback(lading, given.step, {
          orderUpdate: { id: 'nonsense', fulfillments: [{ locationId: elsewhere, status: 'OPEN', lineItems: [] }] },
        }),
        'no order',
      )
    })
  })
})

describe('the virtual location of the step', () => {
  let virtual: string
  let shirts: Item
  let warehouse: string
  let step: string
  let order: { id: string; lines: { id: string }[] }
  const numbers = async () => `${await stockOf(a, shirts, warehouse)} ${await stockOf(a, shirts, virtual)}`
  const prepare = async (fields: object = {}) => {
    ;[virtual, warehouse, shirts] = await Promise.all([
      addLocation(a, { is_virtual: true }),
      addLocation(a),
      addItem(a),
    ])
    const channel = await addChannel(a, virtual)
    step = await addStep(a, [warehouse], { virtual_location_id: virtual, ...fields })
    await Promise.all([stock(a, shirts, warehouse, 100), stock(a, shirts, virtual, 500)])
    const lines = [{ item: shirts, quantity: 10 }]
    order = await addOrder(a, { channel, lines })
    await addFulfillment(a, { order, location: warehouse, lines })
  }
  const ship = (quantity: number, { partialShipments = false, ...posted }: Record<string, unknown> = {}) =>
    postCallback(lading, step, {
      orderUpdate: {
        id: order.id,
        fulfillments: [
          { locationId: warehouse, status: 'OPEN', lineItems: [{ sku: shirts.sku, quantity }], ...posted },
        ],
      },
      fulfillmentOptions: { partialShipments },
    })

  test('units committed there ship there too: 100/10 500/10 becomes 90/0 490/0 by four adjustments', async () => {
    await prepare()
    expect(await numbers()).toBe('100/10 500/10')
    expect(applied(await ship(10))).toMatchObject({ inventoryAdjustmentCount: 4 })
    expect(await numbers()).toBe('90/0 490/0')
    expectNothingNew(await ship(10))
    expect(await numbers()).toBe('90/0 490/0')
    expect(await verify(a)).toEqual([])
  })

  test('in parts: each part takes its units, what is left stays committed there', async () => {
    await prepare()
    applied(await ship(3, { partialShipments: true, trackingNumber: 'T1' }))
    expect(await numbers()).toBe('97/7 497/7')
    applied(await ship(7, { partialShipments: true, trackingNumber: 'T2' }))
    expect(await numbers()).toBe('90/0 490/0')
  })

  test('short: what went on back order stays committed at the virtual location, as the order is still open', async () => {
    await prepare()
    applied(await ship(8))
    expect(await numbers()).toBe('92/0 492/2')
    await a.rest.patch(`/orders?id=eq.${order.id}`, { status: 'closed' })
    expect(await numbers()).toBe('92/0 492/0')
    await a.rest.patch(`/orders?id=eq.${order.id}`, { status: 'open' })
    expect(await numbers()).toBe('92/0 492/2')
    expect(await verify(a)).toEqual([])
  })

  test('canceled by the warehouse: nothing ships there, the order still holds its units', async () => {
    await prepare()
    applied(await ship(10, { status: 'CANCELED' }))
    expect(await numbers()).toBe('100/0 500/10')
  })

  test('new tracking, then SUCCESS: shipped there once', async () => {
    await prepare()
    applied(await ship(10, { trackingNumber: 'T1' }))
    applied(await ship(10, { trackingNumber: 'T2' }))
    applied(await ship(10, { status: 'SUCCESS' }))
    expect(await numbers()).toBe('90/0 490/0')
  })

  test('an order that is closed holds nothing there: only the warehouse changes', async () => {
    await prepare()
    await a.rest.patch(`/orders?id=eq.${order.id}`, { status: 'closed' })
    expect(await numbers()).toBe('100/10 500/0')
    expect(applied(await ship(10))).toMatchObject({ inventoryAdjustmentCount: 2 })
    expect(await numbers()).toBe('90/0 500/0')
  })

  test('a step without a virtual location: only the warehouse changes', async () => {
    await prepare({ virtual_location_id: null })
    expect(applied(await ship(10))).toMatchObject({ inventoryAdjustmentCount: 2 })
    expect(await numbers()).toBe('90/0 500/10')
  })

  test('a commitment at another location than the step names is left alone', async () => {
    await prepare()
    const other = await addLocation(a, { is_virtual: true })
    await a.rest.patch(`/process_shipments_steps?id=eq.${step}`, { virtual_location_id: other })
    expect(applied(await ship(10))).toMatchObject({ inventoryAdjustmentCount: 2 })
    expect([await numbers(), await stockOf(a, shirts, other)]).toEqual(['90/0 500/10', '0/0'])
  })

  test('two lines of one SKU in the order: each ships what it holds', async () => {
    ;[virtual, warehouse, shirts] = await Promise.all([
      addLocation(a, { is_virtual: true }),
      addLocation(a),
      addItem(a),
    ])
    const channel = await addChannel(a, virtual)
    step = await addStep(a, [warehouse], { virtual_location_id: virtual })
    await Promise.all([stock(a, shirts, warehouse, 100), stock(a, shirts, virtual, 500)])
    const lines = [4, 6].map((quantity) => ({ item: shirts, quantity }))
    order = await addOrder(a, { channel, lines })
    await addFulfillment(a, { order, location: warehouse, lines: [...lines].reverse() })
    expect(await numbers()).toBe('100/10 500/10')
    applied(await ship(10))
    expect(await numbers()).toBe('90/0 490/0')
  })
})

describe('many fulfillments in one message', () => {
  const many = 1_000

  test(`${many} fulfillments of one order are shipped by one message`, { timeout: 120_000 }, async () => {
    const [item, warehouse] = await Promise.all([addItem(a), addLocation(a)])
    const step = await addStep(a, [warehouse])
    await stock(a, item, warehouse, many)
    const order = await addOrder(a, { channel: null, lines: [{ item, quantity: many }] })
    const fulfillments = await sql.begin(async (transaction) => {
      await transaction`
        insert into api.fulfillments (business_id, order_id, location_id, status, additional_fields)
        select ${a.id}, ${order.id}, ${warehouse}, 'PENDING', jsonb_build_object('warehouse_order_id', 'W' || n)
        from generate_series(1, ${many}) n`
      await transaction`
        insert into api.fulfillment_line_items (business_id, fulfillment_id, order_line_item_id, inventory_item_id, quantity)
        select business_id, id, ${order.lines[0]?.id ?? ''}, ${item.id}, 1 from api.fulfillments where order_id = ${order.id}`
      return transaction<{ id: string; name: string }[]>`
        select id, additional_fields ->> 'warehouse_order_id' as name from api.fulfillments where order_id = ${order.id}`
    })
    expect(await stockOf(a, item, warehouse)).toBe(`${many}/${many}`)
    const started = performance.now()
    const answer = await postCallback(lading, step, {
      orderUpdate: {
        id: order.id,
        fulfillments: fulfillments.map(({ name }) => ({
          locationId: warehouse,
          status: 'OPEN',
          additionalFields: named({ warehouse_order_id: name }),
          lineItems: [{ sku: item.sku, quantity: 1 }],
        })),
      },
    })
    const seconds = (performance.now() - started) / 1000
    console.info(`${many} fulfillments in one message: ${seconds.toFixed(1)} s`)
    expect(applied(answer)).toEqual({
      inventoryAdjustmentCount: 2 * many,
      inventorySetCount: 0,
      orderActivityCount: 0,
      orderUpdateCount: 1,
    })
    expect(await stockOf(a, item, warehouse)).toBe('0/0')
    expect(await quantitiesOf(a, item, warehouse)).toMatchObject({ on_hand: 0 })
    expect(seconds).toBeLessThan(30)
    expect(await verify(a)).toEqual([])
  })

  test('one more than 5,000 is refused', async () => {
    const given = await addPending(lading)
    await expectUnchanged(sql, async () => {
      expectRefused(
        await postCallback(lading, given.step, {
          orderUpdate: {
            id: given.order.id,
            fulfillments: Array.from({ length: 5_001 }, () => ({
              locationId: given.location,
              status: 'OPEN',
              lineItems: [],
            })),
          },
        }),
        'orderUpdate.fulfillments: must be at most 5000',
      )
    })
    expect(await fulfillmentsOf(a, given.order)).toHaveLength(1)
    expect(await statesOf(a, given.order)).toEqual(['PENDING 10'])
  })
})
