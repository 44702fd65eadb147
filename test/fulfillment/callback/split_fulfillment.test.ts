import { describe, expect, test } from 'vitest'
import { addItem, addLocation, addOrder, stock, verify } from '../../builders.ts'
import { startLading } from '../../harness/lading.ts'
import { applied, expectRefused, postCallback } from '../callback.ts'
import { activitiesOf, addFulfillment, addPending, addStep, fulfillmentsOf, statesOf, stockOf } from '../scenario.ts'
import { expectUnchanged } from '../snapshot.ts'

const lading = await startLading()
const { a, sql } = lading
const parts = { partialShipments: true }

describe('partialShipments: the shipped units become their own fulfillment, the rest stays PENDING', () => {
  test('both keep warehouse_order_id, tracking, location and shipping data', async () => {
    const given = await addPending(lading, {
      fulfillmentFields: { purchase_order_number: 'PO 7', external_ids: { erp: '1' } },
    })
    const shipping = { shippingCompany: 'Ocean Line', shippingMethod: 'ground', trackingNumber: 'T1' }
    const sent = { ...shipping, trackingUrls: ['https://track.example/T1'], shippedAt: '2026-02-03T00:00:00Z' }
    expect(applied(await given.ship(3, sent, parts))).toMatchObject({
      inventoryAdjustmentCount: 2,
      orderUpdateCount: 1,
    })
    const fulfillments = await fulfillmentsOf(a, given.order)
    expect(fulfillments).toHaveLength(2)
    for (const fulfillment of fulfillments) {
      expect(fulfillment).toMatchObject({
        location_id: given.location,
        supplier_id: given.step,
        shipping_company: 'Ocean Line',
        shipping_method: 'ground',
        tracking_number: 'T1',
        tracking_urls: ['https://track.example/T1'],
        purchase_order_number: 'PO 7',
        additional_fields: { warehouse_order_id: given.warehouseOrderId },
      })
    }
    expect(fulfillments.find(({ status }) => status === 'OPEN')?.shipped_at).toBe('2026-02-03T00:00:00+00:00')
  })

  test('the rest keeps its id, and its lines theirs', async () => {
    const given = await addPending(lading)
    applied(await given.ship(3, { trackingNumber: 'T1' }, parts))
    expect(await fulfillmentsOf(a, given.order)).toMatchObject([
      {
        id: given.fulfillment.id,
        status: 'PENDING',
        fulfillment_line_items: [{ id: given.fulfillment.lines[0]?.id, quantity: 7 }],
      },
      { status: 'OPEN', fulfillment_line_items: [{ quantity: 3 }] },
    ])
  })

  test('a later part without shippedAt ships now, not when the first did', async () => {
    const given = await addPending(lading)
    applied(await given.ship(3, { trackingNumber: 'T1', shippedAt: '2026-02-03T00:00:00Z' }, parts))
    applied(await given.ship(7, { trackingNumber: 'T2' }, parts))
    const [whole] = await fulfillmentsOf(a, given.order)
    expect(Math.abs(Date.parse(whole?.shipped_at ?? '') - Date.now())).toBeLessThan(60_000)
  })

  test('a NEW one: the rest is PENDING, as the warehouse has it', async () => {
    const given = await addPending(lading, { status: 'NEW' })
    applied(await given.ship(3, { trackingNumber: 'T1' }, parts))
    expect([await given.states(), await given.stock()]).toEqual([['OPEN 3', 'PENDING 7'], '97/7'])
  })

  test('SUCCESS: the part is SUCCESS', async () => {
    const given = await addPending(lading)
    applied(await given.ship(3, { status: 'SUCCESS' }, parts))
    expect([await given.states(), await given.stock()]).toEqual([['PENDING 7', 'SUCCESS 3'], '97/7'])
  })

  test('CANCELED: only the units named are released, the activity is about the part', async () => {
    const given = await addPending(lading)
    expect(applied(await given.ship(3, { status: 'CANCELED' }, parts))).toMatchObject({ orderActivityCount: 1 })
    expect([await given.states(), await given.stock()]).toEqual([['CANCELED 3', 'PENDING 7'], '100/7'])
    const part = (await fulfillmentsOf(a, given.order)).find(({ status }) => status === 'CANCELED')
    expect(await activitiesOf(a, given.order)).toMatchObject([{ fulfillment_id: part?.id }])
  })

  test('BACKORDER: only the units named are released', async () => {
    const given = await addPending(lading)
    applied(await given.ship(3, { status: 'BACKORDER' }, parts))
    expect([await given.states(), await given.stock()]).toEqual([['BACKORDER 3', 'PENDING 7'], '100/7'])
  })

  test('all units at once: no second fulfillment', async () => {
    const given = await addPending(lading)
    applied(await given.ship(10, {}, parts))
    expect([await given.states(), await given.stock()]).toEqual([['OPEN 10'], '90/0'])
    expect((await fulfillmentsOf(a, given.order))[0]?.id).toBe(given.fulfillment.id)
  })

  test('the last part without partialShipments ends it: the rest goes on back order', async () => {
    const given = await addPending(lading)
    applied(await given.ship(3, { trackingNumber: 'T1' }, parts))
    applied(await given.ship(5, { trackingNumber: 'T2' }))
    expect([await given.states(), await given.stock()]).toEqual([['BACKORDER 2', 'OPEN 3', 'OPEN 5'], '92/0'])
  })

  test('ten parts of one unit: each adjusts once, an eleventh is refused', async () => {
    const given = await addPending(lading)
    for (let part = 1; part <= 10; part++) {
      expect(applied(await given.ship(1, { trackingNumber: `T${part}` }, parts))).toMatchObject({
        inventoryAdjustmentCount: 2,
      })
      expect(await given.stock()).toBe(`${100 - part}/${10 - part}`)
    }
    await expectUnchanged(sql, async () => {
      expectRefused(
        await given.ship(1, { id: given.fulfillment.id, status: 'CANCELED', trackingNumber: 'T11' }, parts),
        'status',
      )
    })
    expect(await given.states()).toEqual(Array(10).fill('OPEN 1'))
    expect(await verify(a)).toEqual([])
  })

  test('several items: whole lines, parts of lines and lines left out', async () => {
    const [shirts, mugs, caps, location] = await Promise.all([addItem(a), addItem(a), addItem(a), addLocation(a)])
    const lines = [shirts, mugs, caps].map((item) => ({ item, quantity: 10 }))
    const order = await addOrder(a, { channel: null, lines })
    for (const item of [shirts, mugs, caps]) await stock(a, item, location, 100)
    const step = await addStep(a, [location])
    await addFulfillment(a, { order, location, lines })
    const post = (lineItems: object[], partialShipments: boolean) =>
      postCallback(lading, step, {
        orderUpdate: { id: order.id, fulfillments: [{ locationId: location, status: 'OPEN', lineItems }] },
        fulfillmentOptions: { partialShipments },
      })
    const numbers = async () =>
      [await stockOf(a, shirts, location), await stockOf(a, mugs, location), await stockOf(a, caps, location)].join(' ')
    const shipped = [
      { sku: shirts.sku, quantity: 10 },
      { sku: mugs.sku, quantity: 4 },
    ]
    expect(await numbers()).toBe('100/10 100/10 100/10')
    expect(applied(await post(shipped, true))).toMatchObject({ inventoryAdjustmentCount: 4 })
    expect([await statesOf(a, order), await numbers()]).toEqual([['OPEN 10+4', 'PENDING 6+10'], '90/0 96/6 100/10'])
    await expectUnchanged(sql, async () => expectRefused(await post([{ sku: shirts.sku, quantity: 1 }], true), 'sku'))
    expect(applied(await post([{ sku: caps.sku, quantity: 9 }], false))).toMatchObject({ inventoryAdjustmentCount: 4 })
    expect([await statesOf(a, order), await numbers()]).toEqual([
      ['BACKORDER 6+1', 'OPEN 10+4', 'OPEN 9'],
      '90/0 96/0 91/0',
    ])
    expect(await verify(a)).toEqual([])
  })
})
