import { describe, expect, test } from 'vitest'
import { addChannel, addItem, addLocation, addOrder, ledgerOf, stock, verify } from '../builders.ts'
import { startLading } from '../harness/lading.ts'
import { type CallbackAnswer, postCallback } from './callback.ts'
import {
  addFulfillment,
  addPending,
  addStep,
  deleteFulfillment,
  fulfillmentsOf,
  patchFulfillment,
  stockOf,
} from './scenario.ts'

const lading = await startLading()
const { a } = lading

const tally = (answers: { status: number }[]): Record<number, number> => {
  const counts: Record<number, number> = {}
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1
  return counts
}
const atOnce = <Answer>(times: number, act: (n: number) => Promise<Answer>): Promise<Answer[]> =>
  Promise.all(Array.from({ length: times }, (_, n) => act(n)))
const parts = { partialShipments: true }

describe('the same message 50 times at once is applied once', () => {
  test('a whole shipment: one 200, 49 times 204', async () => {
    const given = await addPending(lading)
    expect(tally(await atOnce(50, () => given.ship(10)))).toEqual({ 200: 1, 204: 49 })
    expect([await given.states(), await given.stock()]).toEqual([['OPEN 10'], '90/0'])
    expect(await ledgerOf(a, `cause_id=eq.${given.fulfillment.id}`)).toHaveLength(3)
  })

  test('a part with a tracking number', async () => {
    const given = await addPending(lading)
    expect(tally(await atOnce(50, () => given.ship(3, { trackingNumber: 'T1' }, parts)))).toEqual({ 200: 1, 204: 49 })
    expect([await given.states(), await given.stock()]).toEqual([['OPEN 3', 'PENDING 7'], '97/7'])
  })

  test('a part with an Idempotency-Key', async () => {
    const given = await addPending(lading)
    const options = { ...parts, headers: { 'Idempotency-Key': 'K' } }
    const lineItems = [{ sku: given.item.sku, quantity: 3 }]
    expect(tally(await atOnce(50, () => given.post({ lineItems }, options)))).toEqual({ 200: 1, 204: 49 })
    expect([await given.states(), await given.stock()]).toEqual([['OPEN 3', 'PENDING 7'], '97/7'])
  })

  test('a short shipment, a cancellation, a rejection', async () => {
    const short = await addPending(lading)
    expect(tally(await atOnce(50, () => short.ship(8)))).toEqual({ 200: 1, 204: 49 })
    expect([await short.states(), await short.stock()]).toEqual([['BACKORDER 2', 'OPEN 8'], '92/0'])
    for (const reason of ['rejectionReason', 'cancellationReason']) {
      const given = await addPending(lading)
      const message = { warehouseOrderId: given.warehouseOrderId, [reason]: 'no' }
      expect(tally(await atOnce(50, () => postCallback(lading, given.step, message)))).toEqual({ 200: 1, 204: 49 })
      expect(await given.stock()).toBe('100/0')
    }
  })
})

describe('never over-shipped', () => {
  test('two parts of 6 race for 10 units: one is refused', async () => {
    for (let round = 0; round < 10; round++) {
      const given = await addPending(lading)
      const answers = await atOnce(2, (n) => given.ship(6, { trackingNumber: `T${n}` }, parts))
      expect(tally(answers)).toEqual({ 200: 1, 400: 1 })
      expect([await given.states(), await given.stock()]).toEqual([['OPEN 6', 'PENDING 4'], '94/4'])
    }
  })

  test('30 parts of one unit race for 10 units: 10 ship', async () => {
    const given = await addPending(lading)
    const answers = await atOnce(30, (n) => given.ship(1, { trackingNumber: `T${n}` }, parts))
    expect((await given.states()).filter((state) => state === 'OPEN 1')).toHaveLength(10)
    expect(answers.filter(({ status }) => status >= 500)).toEqual([])
    expect(await given.stock()).toBe('90/0')
  })

  test('20 orders race for one SKU at warehouse and virtual location: each ships its own units', async () => {
    const [item, warehouse, virtual] = await Promise.all([
      addItem(a),
      addLocation(a),
      addLocation(a, { is_virtual: true }),
    ])
    const channel = await addChannel(a, virtual)
    const step = await addStep(a, [warehouse], { virtual_location_id: virtual })
    await Promise.all([stock(a, item, warehouse, 100), stock(a, item, virtual, 100)])
    const lines = [{ item, quantity: 5 }]
    const orders = await atOnce(20, () => addOrder(a, { channel, lines }))
    await Promise.all(orders.map((order) => addFulfillment(a, { order, location: warehouse, lines })))
    expect([await stockOf(a, item, warehouse), await stockOf(a, item, virtual)]).toEqual(['100/100', '100/100'])
    const answers = await Promise.all(
      orders.map(({ id }) =>
        postCallback(lading, step, {
          orderUpdate: {
            id,
            fulfillments: [{ locationId: warehouse, status: 'OPEN', lineItems: [{ sku: item.sku, quantity: 5 }] }],
          },
        }),
      ),
    )
    expect(answers.map(({ updateResult }) => updateResult?.inventoryAdjustmentCount)).toEqual(Array(20).fill(4))
    expect([await stockOf(a, item, warehouse), await stockOf(a, item, virtual)]).toEqual(['0/0', '0/0'])
    expect(await verify(a)).toEqual([])
  })

  test('orders of the same items in opposite order do not deadlock', async () => {
    const items = await atOnce(5, () => addItem(a))
    const warehouse = await addLocation(a)
    const step = await addStep(a, [warehouse])
    for (const item of items) await stock(a, item, warehouse, 1000)
    const lines = items.map((item) => ({ item, quantity: 2 }))
    const orders = await atOnce(20, () => addOrder(a, { channel: null, lines }))
    await Promise.all(
      orders.map((order, n) =>
        addFulfillment(a, { order, location: warehouse, lines: n % 2 === 0 ? lines : [...lines].reverse() }),
      ),
    )
    const answers = await Promise.all(
      orders.map(({ id }, n) =>
        postCallback(lading, step, {
          orderUpdate: {
            id,
            fulfillments: [
              {
                locationId: warehouse,
                status: 'OPEN',
                lineItems: (n % 3 === 0 ? items : [...items].reverse()).map(({ sku }) => ({ sku, quantity: 2 })),
              },
            ],
          },
        }),
      ),
    )
    expect(tally(answers)).toEqual({ 200: 20 })
    for (const item of items) expect(await stockOf(a, item, warehouse)).toBe('960/0')
  })
})

test('parts of two items in opposite order, 30 orders at once: all are applied, none waits for another in vain', async () => {
  const [one, two, warehouse] = await Promise.all([addItem(a), addItem(a), addLocation(a)])
  const step = await addStep(a, [warehouse])
  for (const item of [one, two]) await stock(a, item, warehouse, 1000)
  const lines = [one, two].map((item) => ({ item, quantity: 10 }))
  for (let round = 0; round < 2; round++) {
    const orders = await atOnce(30, () => addOrder(a, { channel: null, lines }))
    await Promise.all(orders.map((order) => addFulfillment(a, { order, location: warehouse, lines })))
    const answers = await Promise.all(
      orders.map(({ id }, n) =>
        postCallback(lading, step, {
          orderUpdate: {
            id,
            fulfillments: [
              {
                locationId: warehouse,
                status: 'OPEN',
                lineItems: [
                  { sku: one.sku, quantity: n % 2 === 0 ? 10 : 4 },
                  { sku: two.sku, quantity: n % 2 === 0 ? 4 : 10 },
                ],
              },
            ],
          },
          fulfillmentOptions: { partialShipments: n % 4 < 2 },
        }),
      ),
    )
    expect(tally(answers)).toEqual({ 200: 30 })
  }
  const [{ deadlocks } = { deadlocks: '?' }] = await lading.sql<{ deadlocks: string }[]>`
    select deadlocks from pg_stat_database where datname = current_database()`
  expect(deadlocks).toBe('0')
  expect(await verify(a)).toEqual([])
})

describe('callbacks and table writes at once', () => {
  const rounds = 15

  test('a callback and a PATCH to OPEN: shipped once', async () => {
    for (let round = 0; round < rounds; round++) {
      const given = await addPending(lading)
      const [callback, patch] = await Promise.all([
        given.ship(10),
        patchFulfillment(a, given.fulfillment, { status: 'OPEN' }),
      ])
      expect([callback.status, patch.status]).toEqual([200, expect.toSatisfy((status) => [200, 409].includes(status))])
      expect([await given.states(), await given.stock()]).toEqual([['OPEN 10'], '90/0'])
    }
  })

  test('a callback and a PATCH to CANCELED, or a DELETE: shipped or released', async () => {
    for (let round = 0; round < rounds; round++) {
      const given = await addPending(lading)
      const [callback, other] = await Promise.all([
        given.ship(10),
        round % 2 === 0
          ? patchFulfillment(a, given.fulfillment, { status: 'CANCELED' })
          : deleteFulfillment(a, given.fulfillment),
      ])
      expect([200, 400]).toContain(callback.status)
      expect(callback.status === 200 ? [409] : [200, 204]).toContain(other.status)
      expect(await given.stock()).toBe(callback.status === 200 ? '90/0' : '100/0')
    }
  })

  test('a part and a PATCH of the rest, whose step has a virtual location', async () => {
    const virtual = await addLocation(a, { is_virtual: true })
    const channel = await addChannel(a, virtual)
    for (let round = 0; round < rounds; round++) {
      const given = await addPending(lading, { channel, stepFields: { virtual_location_id: virtual } })
      await given.ship(3, { trackingNumber: 'T1' }, parts)
      const [callback, patch] = await Promise.all([
        given.ship(3, { trackingNumber: 'T2' }, parts),
        patchFulfillment(a, given.fulfillment, { status: 'SUCCESS' }),
      ])
      expect([200, 400]).toContain(callback.status)
      expect(patch.status).toBe(200)
      expect(await given.stock()).toBe('90/0')
      expect(await stockOf(a, given.item, virtual)).toBe('-10/0')
    }
    expect(await verify(a)).toEqual([])
  })

  test('a callback and a PATCH of the line: what ships is what the line says', async () => {
    for (let round = 0; round < rounds; round++) {
      const given = await addPending(lading)
      const line = `/fulfillment_line_items?id=eq.${given.fulfillment.lines[0]?.id}`
      const [callback, patch] = await Promise.all([given.ship(4, {}, parts), a.rest.patch(line, { quantity: 5 })])
      expect([callback.status, patch.status]).toEqual([
        expect.toSatisfy((status) => [200, 400].includes(status)),
        expect.toSatisfy((status) => [204, 409].includes(status)),
      ])
      const held = (await fulfillmentsOf(a, given.order))
        .filter(({ status }) => status === 'PENDING')
        .flatMap(({ fulfillment_line_items: lines }) => lines)
        .reduce((sum, { quantity }) => sum + quantity, 0)
      expect(await given.stock()).toBe(callback.status === 200 ? `96/${held}` : `100/${held}`)
    }
    expect(await verify(a)).toEqual([])
  })

  test('a callback and the order closed, its channel moved, its quantity changed: nothing is lost', async () => {
    const answers: CallbackAnswer[] = []
    for (let round = 0; round < rounds; round++) {
      const virtual = await addLocation(a, { is_virtual: true })
      const channel = await addChannel(a, virtual)
      const given = await addPending(lading, { channel, stepFields: { virtual_location_id: virtual } })
      const others = [
        () => a.rest.patch(`/orders?id=eq.${given.order.id}`, { status: 'closed' }),
        () => a.rest.patch(`/channels?id=eq.${channel.id}`, { is_enabled: false }),
        () => a.rest.patch(`/order_line_items?order_id=eq.${given.order.id}`, { quantity: 12 }),
      ]
      const [callback, other] = await Promise.all([given.ship(10), others[round % 3]?.()])
      answers.push(callback)
      expect(other?.status).toBe(204)
      expect(await given.stock()).toBe('90/0')
      const held = round % 3 === 2 ? 2 : 0
      expect([`-10/${held}`, '0/0']).toContain(await stockOf(a, given.item, virtual))
    }
    expect(tally(answers)).toEqual({ 200: rounds })
    expect(await verify(a)).toEqual([])
  })
})
