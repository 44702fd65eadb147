import { describe, expect, test } from 'vitest'
import { add, addChannel, addItem, addLocation, addOrder, distinct, stock, verify } from '../../builders.ts'
import { startLading } from '../../harness/lading.ts'
import { applied, expectNothingNew, expectRefused, postCallback } from '../callback.ts'
import {
  activitiesOf,
  addFulfillment,
  addPending,
  addStep,
  type Pending,
  type Status,
  statesOf,
  stockOf,
} from '../scenario.ts'
import { expectUnchanged } from '../snapshot.ts'

const lading = await startLading()
const { a, sql } = lading

const reject = ({ step, warehouseOrderId }: Pending, rejectionReason = 'no such address') =>
  postCallback(lading, step, { warehouseOrderId, rejectionReason })
const cancel = ({ step, warehouseOrderId }: Pending, cancellationReason = 'lost in a fire') =>
  postCallback(lading, step, { warehouseOrderId, cancellationReason })
const orderStatus = async ({ order }: Pending) =>
  (await a.rest.get<{ status: string }[]>(`/orders?select=status&id=eq.${order.id}`)).body[0]?.status

describe('{warehouseOrderId, rejectionReason}', () => {
  for (const status of ['NEW', 'PENDING'] as const) {
    test(`a ${status} fulfillment is removed, 100/10 becomes 100/0, the order goes to hold, with an activity`, async () => {
      const given = await addPending(lading, { status })
      expect(await given.stock()).toBe('100/10')
      expect(applied(await reject(given))).toEqual({
        inventoryAdjustmentCount: 1,
        inventorySetCount: 0,
        orderActivityCount: 1,
        orderUpdateCount: 1,
      })
      expect([await given.states(), await given.stock(), await orderStatus(given)]).toEqual([[], '100/0', 'hold'])
      expect(await activitiesOf(a, given.order)).toMatchObject([
        { description: 'no such address', fulfillment_id: given.fulfillment.id, result: 'ERROR' },
      ])
    })
  }

  test('again: 204, nothing changes, also when the order goes on', async () => {
    const given = await addPending(lading)
    applied(await reject(given))
    await a.rest.patch(`/orders?id=eq.${given.order.id}`, { status: 'open' })
    await expectUnchanged(sql, async () => expectNothingNew(await reject(given)))
    expect(await orderStatus(given)).toBe('open')
  })

  test('the virtual location still holds the units of an order on hold', async () => {
    const virtual = await addLocation(a, { is_virtual: true })
    const given = await addPending(lading, {
      channel: await addChannel(a, virtual),
      stepFields: { virtual_location_id: virtual },
    })
    applied(await reject(given))
    expect([await given.stock(), await stockOf(a, given.item, virtual)]).toEqual(['100/0', '0/10'])
    expect(await verify(a)).toEqual([])
  })

  test('what has shipped stays: only pending fulfillments of the order are removed', async () => {
    const given = await addPending(lading)
    applied(await given.ship(3, { trackingNumber: 'T1' }, { partialShipments: true }))
    applied(await reject(given))
    expect([await given.states(), await given.stock()]).toEqual([['OPEN 3'], '97/0'])
  })
})

describe('{warehouseOrderId, cancellationReason}', () => {
  for (const status of ['NEW', 'PENDING'] as const) {
    test(`a ${status} fulfillment is CANCELED, 100/10 becomes 100/0, the order stays open, with an activity`, async () => {
      const given = await addPending(lading, { status })
      expect(applied(await cancel(given))).toEqual({
        inventoryAdjustmentCount: 1,
        inventorySetCount: 0,
        orderActivityCount: 1,
        orderUpdateCount: 1,
      })
      expect([await given.states(), await given.stock(), await orderStatus(given)]).toEqual([
        ['CANCELED 10'],
        '100/0',
        'open',
      ])
      expect(await activitiesOf(a, given.order)).toMatchObject([
        { title: 'Fulfillment Canceled', description: 'lost in a fire', fulfillment_id: given.fulfillment.id },
      ])
    })
  }

  test('again: 204, nothing changes', async () => {
    const given = await addPending(lading)
    applied(await cancel(given))
    await expectUnchanged(sql, async () => expectNothingNew(await cancel(given)))
  })
})

describe('refused with 400, nothing changes', () => {
  test('an id that no fulfillment has, or only those that have shipped or ended', async () => {
    const given = await addPending(lading)
    await expectUnchanged(sql, async () => {
      expectRefused(await reject({ ...given, warehouseOrderId: 'nonsense' }), 'warehouseOrderId')
      expectRefused(await cancel({ ...given, warehouseOrderId: 'nonsense' }), 'warehouseOrderId')
    })
    for (const status of ['OPEN', 'SUCCESS', 'CANCELED', 'BACKORDER'] as Status[]) {
      const ended = await addPending(lading, { status })
      await expectUnchanged(sql, async () => {
        expectRefused(await reject(ended), 'warehouseOrderId')
        expectRefused(await cancel(ended), 'warehouseOrderId')
      })
    }
  })

  test('an id that fulfillments of two orders have; the channel filter tells them apart', async () => {
    const additional_fields = { warehouse_order_id: distinct('WO') }
    const warehouseOrderId = additional_fields.warehouse_order_id
    const channels = [await addChannel(a, null), await addChannel(a, null)]
    const location = await addLocation(a)
    const item = await addItem(a)
    await stock(a, item, location, 100)
    const lines = [{ item, quantity: 10 }]
    const orders = await Promise.all(channels.map((channel) => addOrder(a, { channel, lines })))
    for (const order of orders) await addFulfillment(a, { order, location, lines, additional_fields })
    const everywhere = await addStep(a, [location])
    const here = await addStep(a, [location], { channel_ids: [channels[1]?.id] })
    await expectUnchanged(sql, async () => {
      expectRefused(
        await postCallback(lading, everywhere, { warehouseOrderId, rejectionReason: 'no' }),
        'several orders',
      )
    })
    applied(await postCallback(lading, here, { warehouseOrderId, rejectionReason: 'no' }))
    expect(await Promise.all(orders.map((order) => statesOf(a, order)))).toEqual([['PENDING 10'], []])
    expect(await stockOf(a, item, location)).toBe('100/10')
  })

  test('a fulfillment at a location that the step does not map', async () => {
    const given = await addPending(lading)
    const step = await addStep(a, [await addLocation(a)])
    await expectUnchanged(sql, async () => expectRefused(await reject({ ...given, step }), 'warehouseOrderId'))
  })

  test('no reason, an empty one, both, no warehouseOrderId', async () => {
    const { step, warehouseOrderId } = await addPending(lading)
    await expectUnchanged(sql, async () => {
      for (const message of [
        { warehouseOrderId },
        { warehouseOrderId, rejectionReason: '' },
        { warehouseOrderId, cancellationReason: '' },
        { warehouseOrderId, rejectionReason: 7 },
        { warehouseOrderId, rejectionReason: 'a', cancellationReason: 'b' },
        { rejectionReason: 'a' },
        { cancellationReason: 'a' },
        { warehouseOrderId: '', rejectionReason: 'a' },
        { warehouseOrderId: 7, rejectionReason: 'a' },
      ]) {
        expect(await postCallback(lading, step, message)).toMatchObject({ status: 400 })
      }
    })
  })
})

describe('at the same time', () => {
  test('ten rejections with ten reasons: one is applied, the others are refused', async () => {
    const given = await addPending(lading)
    const answers = await Promise.all(Array.from({ length: 10 }, (_, n) => reject(given, `reason ${n}`)))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(9).fill(400)])
    expect([await given.stock(), await activitiesOf(a, given.order)]).toMatchObject(['100/0', { length: 1 }])
  })

  test('a rejection, a cancellation and a shipment: one wins', async () => {
    for (let round = 0; round < 5; round++) {
      const given = await addPending(lading)
      const answers = await Promise.all([reject(given), given.ship(10), cancel(given)])
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 400, 400])
      expect(await given.stock()).toBe((await given.states())[0] === 'OPEN 10' ? '90/0' : '100/0')
    }
    expect(await verify(a)).toEqual([])
  })
})

test('a fulfillment without warehouse_order_id is not found by an empty one', async () => {
  const item = await addItem(a)
  const location = await addLocation(a)
  const order = await addOrder(a, { channel: null, lines: [{ item, quantity: 1 }] })
  const fulfillment = await add(a, 'fulfillments', { order_id: order.id, location_id: location })
  const step = await addStep(a, [location])
  await expectUnchanged(sql, async () => {
    expectRefused(
      await postCallback(lading, step, { warehouseOrderId: fulfillment.id, rejectionReason: 'x' }),
      'warehouseOrderId',
    )
  })
})
