import { describe, expect, test } from 'vitest'
import { addChannel, addItem, addLocation, addOrder, ledgerOf, stock } from '../../builders.ts'
import { startLading } from '../../harness/lading.ts'
import { applied, postCallback, type UpdateResult } from '../callback.ts'
import { activitiesOf, addFulfillment, addPending, addStep } from '../scenario.ts'

const lading = await startLading()
const { a } = lading

/** Expects the counts that the ledger and the activities of the order bear out. */
const expectCounts = async (
  order: { id: string },
  act: () => Promise<UpdateResult>,
  expected: UpdateResult,
): Promise<void> => {
  const [ledger, activities] = [await ledgerOf(a), await activitiesOf(a, order)]
  expect(await act()).toEqual(expected)
  const written = (await ledgerOf(a)).slice(ledger.length)
  expect(written.filter(({ operation }) => operation === 'ADJUST')).toHaveLength(expected.inventoryAdjustmentCount)
  expect(written.filter(({ operation }) => operation === 'SET')).toHaveLength(expected.inventorySetCount)
  expect(await activitiesOf(a, order)).toHaveLength(activities.length + expected.orderActivityCount)
}
const counts = (adjustments: number, sets = 0, activities = 0): UpdateResult => ({
  inventoryAdjustmentCount: adjustments,
  inventorySetCount: sets,
  orderActivityCount: activities,
  orderUpdateCount: 1,
})

describe('updateResult counts what was written', () => {
  test('nothing but fields: one order, no entries', async () => {
    const given = await addPending(lading)
    await expectCounts(
      given.order,
      async () => applied(await given.ship(10, { status: 'PENDING', note: 'x' })),
      counts(0),
    )
  })

  test('nothing but a field of a line', async () => {
    const given = await addPending(lading)
    applied(await given.ship(10))
    await expectCounts(
      given.order,
      async () =>
        applied(
          await given.post({ trackingNumber: 'T', lineItems: [{ sku: given.item.sku, quantity: 10, vendor: 'Acme' }] }),
        ),
      counts(0),
    )
  })

  test('whole, short, in parts, canceled, back order', async () => {
    const cases: [number, object, UpdateResult, boolean][] = [
      [10, {}, counts(2), false],
      [8, {}, counts(3), false],
      [3, {}, counts(2), true],
      [10, { status: 'CANCELED' }, counts(1, 0, 1), false],
      [3, { status: 'CANCELED' }, counts(1, 0, 1), true],
      [10, { status: 'BACKORDER' }, counts(1), false],
    ]
    for (const [quantity, posted, expected, partialShipments] of cases) {
      const given = await addPending(lading)
      await expectCounts(
        given.order,
        async () => applied(await given.ship(quantity, posted, { partialShipments })),
        expected,
      )
    }
  })

  test('two items at warehouse and virtual location: eight entries', async () => {
    const [virtual, warehouse] = await Promise.all([addLocation(a, { is_virtual: true }), addLocation(a)])
    const items = await Promise.all([addItem(a), addItem(a)])
    const lines = items.map((item) => ({ item, quantity: 5 }))
    for (const item of items) await stock(a, item, warehouse, 100)
    const step = await addStep(a, [warehouse], { virtual_location_id: virtual })
    const order = await addOrder(a, { channel: await addChannel(a, virtual), lines })
    await addFulfillment(a, { order, location: warehouse, lines })
    await expectCounts(
      order,
      async () =>
        applied(
          await postCallback(lading, step, {
            orderUpdate: {
              id: order.id,
              fulfillments: [
                { locationId: warehouse, status: 'OPEN', lineItems: items.map(({ sku }) => ({ sku, quantity: 5 })) },
              ],
            },
          }),
        ),
      counts(8),
    )
  })

  test('what other orders do at the same time is not counted', async () => {
    const orders = await Promise.all(Array.from({ length: 8 }, () => addPending(lading)))
    const answers = await Promise.all(orders.map((given) => given.ship(10)))
    expect(answers.map(applied)).toEqual(orders.map(() => counts(2)))
  })

  test('a rejection: one entry, one activity', async () => {
    const given = await addPending(lading)
    await expectCounts(
      given.order,
      async () =>
        applied(
          await postCallback(lading, given.step, { warehouseOrderId: given.warehouseOrderId, rejectionReason: 'no' }),
        ),
      counts(1, 0, 1),
    )
  })
})
