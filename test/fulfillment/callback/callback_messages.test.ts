import { beforeEach, describe, expect, test } from 'vitest'
import { addItem, addLocation, addOrder, distinct, stock } from '../../builders.ts'
import { startLading } from '../../harness/lading.ts'
import { applied, expectNothingNew, expectRefused, postCallback } from '../callback.ts'
import { addFulfillment, addPending, addStep, fulfillmentsOf, type Pending, stockOf } from '../scenario.ts'
import { expectUnchanged } from '../snapshot.ts'

const lading = await startLading()
const { a, sql } = lading
const parts = { partialShipments: true }
const keyed = (key: string) => ({ headers: { 'Idempotency-Key': key } })

let given: Pending
beforeEach(async () => {
  given = await addPending(lading)
})
const lines = (quantity: number) => [{ sku: given.item.sku, quantity }]

describe('the same message again is 204 and changes nothing', () => {
  test('by content: order, location, status, tracking, shippedAt, lines', async () => {
    const posted = {
      trackingNumber: 'T1',
      trackingUrls: ['https://a.example'],
      shippedAt: '2026-02-03T00:00:00Z',
      lineItems: lines(10),
    }
    applied(await given.post(posted))
    await expectUnchanged(sql, async () => {
      for (let n = 0; n < 3; n++) expectNothingNew(await given.post(posted))
    })
    expect(await given.stock()).toBe('90/0')
  })

  test('by content, when lines come in another order, split, or the order is named otherwise', async () => {
    applied(await given.post({ lineItems: lines(10) }))
    await expectUnchanged(sql, async () => {
      expectNothingNew(await given.post({ lineItems: [...lines(4), ...lines(6)] }))
      expectNothingNew(await given.post({ lineItems: lines(10), note: 'sent again' }))
    })
  })

  test('by content also after the fulfillment has gone on: never applied anew', async () => {
    applied(await given.post({ lineItems: lines(10) }))
    applied(await given.post({ status: 'SUCCESS', lineItems: lines(10) }))
    await expectUnchanged(sql, async () => {
      expectNothingNew(await given.post({ lineItems: lines(10) }))
      expectNothingNew(await given.post({ status: 'SUCCESS', lineItems: lines(10) }))
    })
  })

  test('a CANCELED message again', async () => {
    applied(await given.post({ status: 'CANCELED', lineItems: lines(10) }))
    await expectUnchanged(sql, async () =>
      expectNothingNew(await given.post({ status: 'CANCELED', lineItems: lines(10) })),
    )
  })

  test('by Idempotency-Key, whatever the content', async () => {
    applied(await given.post({ lineItems: lines(3) }, { partialShipments: true, ...keyed('K1') }))
    await expectUnchanged(sql, async () => {
      expectNothingNew(await given.post({ lineItems: lines(3) }, { partialShipments: true, ...keyed('K1') }))
      expectNothingNew(await given.post({ lineItems: lines(7) }, keyed('K1')))
    })
    expect([await given.states(), await given.stock()]).toEqual([['OPEN 3', 'PENDING 7'], '97/7'])
  })

  test('the key of a message that was refused is free: the corrected message is applied', async () => {
    await expectUnchanged(sql, async () =>
      expectRefused(await given.post({ lineItems: lines(11) }, keyed('K2')), 'quantity'),
    )
    applied(await given.post({ lineItems: lines(10) }, keyed('K2')))
    expect(await given.stock()).toBe('90/0')
  })

  test('the key of a message that found no mapped location is free: it is applied once the location is mapped', async () => {
    await a.rest.patch(`/process_shipments_steps?id=eq.${given.step}`, { warehouse_location_map: [] })
    await expectUnchanged(sql, async () => expectNothingNew(await given.post({ lineItems: lines(10) }, keyed('K3'))))
    await a.rest.patch(`/process_shipments_steps?id=eq.${given.step}`, {
      warehouse_location_map: [{ locationId: given.location }],
    })
    applied(await given.post({ lineItems: lines(10) }, keyed('K3')))
    expect(await given.stock()).toBe('90/0')
  })

  test('two fulfillments of equal lines, told apart by warehouse_order_id, are two messages', async () => {
    const [item, location] = await Promise.all([addItem(a), addLocation(a)])
    await stock(a, item, location, 100)
    const step = await addStep(a, [location])
    const order = await addOrder(a, { channel: null, lines: [{ item, quantity: 10 }] })
    const names = [distinct('WO'), distinct('WO')]
    for (const warehouse_order_id of names) {
      const fields = { additional_fields: { warehouse_order_id } }
      await addFulfillment(a, { order, location, lines: [{ item, quantity: 5 }], ...fields })
    }
    const post = (name: string) =>
      postCallback(lading, step, {
        orderUpdate: {
          fulfillments: [
            {
              locationId: location,
              status: 'OPEN',
              additionalFields: [{ name: 'warehouse_order_id', value: name }],
              lineItems: [{ sku: item.sku, quantity: 5 }],
            },
          ],
        },
      })
    for (const [n, name] of names.entries()) {
      applied(await post(name))
      expect(await stockOf(a, item, location)).toBe(`${95 - 5 * n}/${5 - 5 * n}`)
    }
    await expectUnchanged(sql, async () => {
      for (const name of names) expectNothingNew(await post(name))
    })
  })

  test('the same key at another step is another message', async () => {
    const other = await addPending(lading)
    applied(await given.post({ lineItems: lines(10) }, keyed('K4')))
    applied(await other.post({ lineItems: [{ sku: other.item.sku, quantity: 10 }] }, keyed('K4')))
  })

  test('different keys tell equal messages apart', async () => {
    for (const [n, key] of ['P1', 'P2', 'P3'].entries()) {
      applied(await given.post({ lineItems: lines(3) }, { partialShipments: true, ...keyed(key) }))
      expect(await given.stock()).toBe(`${97 - 3 * n}/${7 - 3 * n}`)
    }
  })

  test('a message that says nothing new is 204 and leaves nothing behind', async () => {
    await given.post({ status: 'PENDING', lineItems: lines(10) })
    await expectUnchanged(sql, async () => {
      expectNothingNew(await given.post({ status: 'PENDING', lineItems: lines(9) }))
      expectNothingNew(await given.post({ status: 'PENDING', lineItems: lines(10) }, keyed('K5')))
    })
  })
})

describe('under partialShipments', () => {
  test('two parts of 3 without tracking, shippedAt or id are two parts', async () => {
    applied(await given.post({ lineItems: lines(3) }, parts))
    applied(await given.post({ lineItems: lines(3) }, parts))
    expect([await given.states(), await given.stock()]).toEqual([['OPEN 3', 'OPEN 3', 'PENDING 4'], '94/4'])
  })

  for (const [what, mark] of [
    ['a tracking number', () => ({ trackingNumber: 'T1' })],
    ['shippedAt', () => ({ shippedAt: '2026-02-03T00:00:00Z' })],
    ["the fulfillment's id", () => ({ id: given.fulfillment.id })],
  ] as [string, () => object][]) {
    test(`${what} tells parts apart: the same again is a repetition`, async () => {
      applied(await given.post({ ...mark(), lineItems: lines(3) }, parts))
      await expectUnchanged(sql, async () =>
        expectNothingNew(await given.post({ ...mark(), lineItems: lines(3) }, parts)),
      )
      expect([await given.states(), await given.stock()]).toEqual([['OPEN 3', 'PENDING 7'], '97/7'])
    })
  }

  test('another tracking number, another shippedAt: another part', async () => {
    for (const mark of [
      { trackingNumber: 'T1' },
      { trackingNumber: 'T2' },
      { shippedAt: '2026-02-03T00:00:00Z' },
      { shippedAt: '2026-02-04T00:00:00Z' },
    ]) {
      applied(await given.post({ ...mark, lineItems: lines(2) }, parts))
    }
    expect([await given.states(), await given.stock()]).toEqual([
      ['OPEN 2', 'OPEN 2', 'OPEN 2', 'OPEN 2', 'PENDING 2'],
      '92/2',
    ])
    expect(await fulfillmentsOf(a, given.order)).toHaveLength(5)
  })
})
