import { describe, expect, test } from 'vitest'
import { addChannel, addLocation, distinct, verify } from '../../builders.ts'
import { startLading } from '../../harness/lading.ts'
import { applied, expectNothingNew, expectRefused, postCallback } from '../callback.ts'
import { addPending, addStep, fulfillmentsOf } from '../scenario.ts'
import { expectUnchanged } from '../snapshot.ts'

const lading = await startLading()
const { a, b, sql } = lading

describe('an order of 10 units, PENDING where 100 are available', () => {
  test('OPEN 10: 100/10 becomes 90/0 by two adjustments, the order untouched; the same body again is 204', async () => {
    const given = await addPending(lading)
    const before = await a.rest.get(`/orders?select=*,order_line_items(*)&id=eq.${given.order.id}`)
    expect(await given.stock()).toBe('100/10')

    expect(applied(await given.ship(10))).toEqual({
      inventoryAdjustmentCount: 2,
      inventorySetCount: 0,
      orderActivityCount: 0,
      orderUpdateCount: 1,
    })
    expect(await given.stock()).toBe('90/0')
    expect(await given.states()).toEqual(['OPEN 10'])
    expect((await a.rest.get(`/orders?select=*,order_line_items(*)&id=eq.${given.order.id}`)).body).toEqual(before.body)

    await expectUnchanged(sql, async () => expectNothingNew(await given.ship(10)))
    expect(await given.stock()).toBe('90/0')
    expect(await verify(a)).toEqual([])
  })

  test('partial 3 with T1: OPEN 3 + PENDING 7, 97/7; 3 with T2: PENDING 4, 94/4; 5 is refused and changes nothing', async () => {
    const given = await addPending(lading)
    applied(await given.ship(3, { trackingNumber: 'T1' }, { partialShipments: true }))
    expect([await given.states(), await given.stock()]).toEqual([['OPEN 3', 'PENDING 7'], '97/7'])
    const [one, two] = await fulfillmentsOf(a, given.order)
    for (const fulfillment of [one, two]) {
      expect(fulfillment).toMatchObject({
        additional_fields: { warehouse_order_id: given.warehouseOrderId },
        tracking_number: 'T1',
        location_id: given.location,
      })
    }

    applied(await given.ship(3, { trackingNumber: 'T2' }, { partialShipments: true }))
    expect([await given.states(), await given.stock()]).toEqual([['OPEN 3', 'OPEN 3', 'PENDING 4'], '94/4'])

    await expectUnchanged(sql, async () => {
      expectRefused(
        await given.ship(5, { trackingNumber: 'T3' }, { partialShipments: true }),
        'orderUpdate.fulfillments[0].lineItems[0].quantity',
      )
    })
    applied(await given.ship(4, { trackingNumber: 'T4' }, { partialShipments: true }))
    expect([await given.states(), await given.stock()]).toEqual([['OPEN 3', 'OPEN 3', 'OPEN 4'], '90/0'])
    expect(await verify(a)).toEqual([])
  })

  test('8 without partialShipments: OPEN 8 + BACKORDER 2, 92/0', async () => {
    const given = await addPending(lading)
    expect(applied(await given.ship(8))).toMatchObject({ inventoryAdjustmentCount: 3, orderUpdateCount: 1 })
    expect([await given.states(), await given.stock()]).toEqual([['BACKORDER 2', 'OPEN 8'], '92/0'])
  })

  test('one channelOrderId in two channels: 400 without the channel filter, the right order with it', async () => {
    const [amazon, shop] = [await addChannel(a, null), await addChannel(a, null)]
    const channelOrderId = distinct('CO')
    const one = await addPending(lading, { channel: amazon, orderFields: { channel_order_id: channelOrderId } })
    const two = await addPending(lading, {
      channel: shop,
      orderFields: { channel_order_id: channelOrderId },
      stepFields: { channel_ids: [shop.id] },
    })
    const order = { channelOrderId }
    const lineItems = [{ sku: one.item.sku, quantity: 10 }]
    await expectUnchanged(sql, async () => {
      expectRefused(await one.post({ lineItems }, { order }), 'several orders')
    })
    applied(await two.post({ lineItems: [{ sku: two.item.sku, quantity: 10 }] }, { order }))
    expect([await one.states(), await two.states()]).toEqual([['PENDING 10'], ['OPEN 10']])
  })
})

describe('who may post where', () => {
  test('no step of that id, not even an id, one of another business: 404, before the body is looked at', async () => {
    const given = await addPending(lading)
    const message = { orderUpdate: { id: given.order.id, fulfillments: [] } }
    await expectUnchanged(sql, async () => {
      for (const step of [crypto.randomUUID(), 'nonsense', '%F0%9F%9A%9A']) {
        expect(await postCallback(lading, step, message)).toMatchObject({ status: 404 })
        expect(await postCallback(lading, step, '{')).toMatchObject({ status: 404 })
      }
      expect(await postCallback(lading, given.step, message, { key: b.warehouseKey })).toMatchObject({ status: 404 })
      expect(await postCallback(lading, given.step, message, { key: b.key })).toMatchObject({ status: 404 })
    })
  })

  test('keys missing or unknown: 401, whatever the step and body', async () => {
    const given = await addPending(lading)
    for (const step of [given.step, crypto.randomUUID()]) {
      expect(await postCallback(lading, step, '{', { key: null })).toMatchObject({ status: 401 })
      expect(await postCallback(lading, step, '{', { key: 'unknown' })).toMatchObject({ status: 401 })
      expect(await postCallback(lading, step, '{', { headers: { apikey: 'unknown' } })).toMatchObject({ status: 401 })
    }
  })

  for (const [role, key] of [
    ['business', a.key],
    ['operator', lading.operatorKey],
  ] as const) {
    test(`a key of role ${role} posts too`, async () => {
      const given = await addPending(lading)
      const lineItems = [{ sku: given.item.sku, quantity: 10 }]
      applied(await given.post({ lineItems }, { key }))
      expect(await given.stock()).toBe('90/0')
    })
  }

  test('the step of business B with its own key finds nothing of business A: 400', async () => {
    const given = await addPending(lading)
    const step = await addStep(b, [await addLocation(b)])
    await expectUnchanged(sql, async () => {
      expectRefused(
        await postCallback(
          lading,
          step,
          {
            orderUpdate: {
              id: given.order.id,
              fulfillments: [{ locationId: given.location, status: 'OPEN', lineItems: [] }],
            },
          },
          { key: b.warehouseKey },
        ),
        'no order',
      )
    })
  })
})
