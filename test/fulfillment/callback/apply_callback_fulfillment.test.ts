import { describe, expect, test } from 'vitest'
import { verify } from '../../builders.ts'
import { startLading } from '../../harness/lading.ts'
import { applied, expectNothingNew, expectRefused } from '../callback.ts'
import {
  activitiesOf,
  addPending,
  deleteFulfillment,
  fulfillmentsOf,
  type Pending,
  patchFulfillment,
  type Status,
} from '../scenario.ts'
import { expectUnchanged } from '../snapshot.ts'

const lading = await startLading()
const { a, sql } = lading

const only = async (given: Pending) => {
  const fulfillments = await fulfillmentsOf(a, given.order)
  expect(fulfillments).toHaveLength(1)
  return fulfillments[0]
}

describe('OPEN', () => {
  for (const status of ['NEW', 'PENDING'] as const) {
    test(`a ${status} fulfillment ships: 100/10 becomes 90/0, shipped_at is now, the step is its supplier`, async () => {
      const given = await addPending(lading, { status })
      expect(await given.stock()).toBe('100/10')
      const before = Date.now()
      expect(applied(await given.ship(10))).toMatchObject({ inventoryAdjustmentCount: 2, orderActivityCount: 0 })
      const shipped = await only(given)
      expect(shipped).toMatchObject({ status: 'OPEN', supplier_id: given.step })
      expect(Math.abs(Date.parse(shipped?.shipped_at ?? '') - before)).toBeLessThan(20_000)
      expect(await given.stock()).toBe('90/0')
    })
  }

  test('shippedAt, carrier, method and tracking as sent', async () => {
    const given = await addPending(lading)
    applied(
      await given.ship(10, {
        shippedAt: '2026-02-03T04:05:06+02:00',
        shippingCompany: 'Ocean Line',
        shippingMethod: 'ground',
        trackingNumber: 'T1',
        trackingUrls: ['https://track.example/T1'],
      }),
    )
    expect(await only(given)).toMatchObject({
      shipped_at: '2026-02-03T02:05:06+00:00',
      shipping_company: 'Ocean Line',
      shipping_method: 'ground',
      tracking_number: 'T1',
      tracking_urls: ['https://track.example/T1'],
    })
  })

  test('more available than there is: stock goes below 0, what is committed does not', async () => {
    const given = await addPending(lading, { available: 4 })
    applied(await given.ship(10))
    expect(await given.stock()).toBe('-6/0')
    expect(await verify(a)).toEqual([])
  })
})

describe('SUCCESS', () => {
  for (const status of ['NEW', 'PENDING'] as const) {
    test(`from ${status} like OPEN: 100/10 becomes 90/0`, async () => {
      const given = await addPending(lading, { status })
      expect(applied(await given.ship(10, { status: 'SUCCESS' }))).toMatchObject({ inventoryAdjustmentCount: 2 })
      expect([await given.states(), await given.stock()]).toEqual([['SUCCESS 10'], '90/0'])
    })
  }

  test('from OPEN the status only: 90/0 stays, no adjustment', async () => {
    const given = await addPending(lading)
    applied(await given.ship(10, { shippedAt: '2026-02-03T00:00:00Z' }))
    expect(applied(await given.ship(10, { status: 'SUCCESS' }))).toEqual({
      inventoryAdjustmentCount: 0,
      inventorySetCount: 0,
      orderActivityCount: 0,
      orderUpdateCount: 1,
    })
    expect([await given.states(), await given.stock()]).toEqual([['SUCCESS 10'], '90/0'])
    expect((await only(given))?.shipped_at).toBe('2026-02-03T00:00:00+00:00')
  })

  test('short: SUCCESS 8 + BACKORDER 2', async () => {
    const given = await addPending(lading)
    applied(await given.ship(8, { status: 'SUCCESS' }))
    expect([await given.states(), await given.stock()]).toEqual([['BACKORDER 2', 'SUCCESS 8'], '92/0'])
  })
})

describe('CANCELED', () => {
  for (const status of ['NEW', 'PENDING'] as const) {
    test(`a ${status} fulfillment is released: 100/10 becomes 100/0, with the activity Fulfillment Canceled`, async () => {
      const given = await addPending(lading, { status })
      expect(applied(await given.ship(10, { status: 'CANCELED' }))).toEqual({
        inventoryAdjustmentCount: 1,
        inventorySetCount: 0,
        orderActivityCount: 1,
        orderUpdateCount: 1,
      })
      expect([await given.states(), await given.stock()]).toEqual([['CANCELED 10'], '100/0'])
      expect(await activitiesOf(a, given.order)).toMatchObject([
        { title: 'Fulfillment Canceled', fulfillment_id: given.fulfillment.id, result: 'SUCCESS' },
      ])
    })
  }

  test('with no line named: all of it', async () => {
    const given = await addPending(lading)
    applied(await given.post({ status: 'CANCELED', lineItems: [] }))
    expect([await given.states(), await given.stock()]).toEqual([['CANCELED 10'], '100/0'])
  })

  for (const status of ['OPEN', 'SUCCESS'] as const) {
    test(`what is ${status} is not canceled: 400`, async () => {
      const given = await addPending(lading, { status })
      await expectUnchanged(sql, async () => expectRefused(await given.ship(10, { status: 'CANCELED' }), 'status'))
    })
  }
})

describe('BACKORDER', () => {
  for (const status of ['NEW', 'PENDING'] as const) {
    test(`a ${status} fulfillment is released: 100/10 becomes 100/0`, async () => {
      const given = await addPending(lading, { status })
      expect(applied(await given.ship(10, { status: 'BACKORDER' }))).toMatchObject({
        inventoryAdjustmentCount: 1,
        orderUpdateCount: 1,
      })
      expect([await given.states(), await given.stock()]).toEqual([['BACKORDER 10'], '100/0'])
    })
  }

  test('what has shipped is not put on back order: 400', async () => {
    for (const status of ['OPEN', 'SUCCESS'] as const) {
      const given = await addPending(lading, { status })
      await expectUnchanged(sql, async () => expectRefused(await given.ship(10, { status: 'BACKORDER' }), 'status'))
    }
  })

  test('one on back order is canceled by its id', async () => {
    const given = await addPending(lading, { status: 'BACKORDER' })
    applied(await given.ship(10, { id: given.fulfillment.id, status: 'CANCELED' }))
    expect([await given.states(), await given.stock()]).toEqual([['CANCELED 10'], '100/0'])
  })

  test('one on back order does not ship: 400', async () => {
    const given = await addPending(lading, { status: 'BACKORDER' })
    await expectUnchanged(sql, async () => expectRefused(await given.ship(10, { id: given.fulfillment.id }), 'status'))
  })
})

describe('PENDING merges fields only', () => {
  for (const status of ['NEW', 'PENDING', 'OPEN', 'SUCCESS'] as Status[]) {
    test(`a ${status} fulfillment keeps its state and quantities`, async () => {
      const given = await addPending(lading, { status })
      const [states, numbers] = [await given.states(), await given.stock()]
      expect(applied(await given.ship(4, { status: 'PENDING', shippingCompany: 'Ocean Line' }))).toEqual({
        inventoryAdjustmentCount: 0,
        inventorySetCount: 0,
        orderActivityCount: 0,
        orderUpdateCount: 1,
      })
      expect([await given.states(), await given.stock()]).toEqual([states, numbers])
      expect(await only(given)).toMatchObject({ shipping_company: 'Ocean Line', status })
    })
  }

  test('a PENDING fulfillment posted with partialShipments is not split', async () => {
    const given = await addPending(lading)
    applied(await given.ship(4, { status: 'PENDING', trackingNumber: 'T1' }, { partialShipments: true }))
    expect([await given.states(), await given.stock()]).toEqual([['PENDING 10'], '100/10'])
  })
})

describe('NEW and going back', () => {
  for (const status of ['NEW', 'PENDING', 'OPEN', 'SUCCESS'] as Status[]) {
    test(`NEW posted for a ${status} fulfillment: 400`, async () => {
      const given = await addPending(lading, { status })
      await expectUnchanged(sql, async () =>
        expectRefused(await given.ship(10, { status: 'NEW' }), 'fulfillments[0].status'),
      )
    })
  }

  test('OPEN posted for a SUCCESS fulfillment: 400', async () => {
    const given = await addPending(lading, { status: 'SUCCESS' })
    await expectUnchanged(sql, async () => expectRefused(await given.ship(10), 'fulfillments[0].status'))
  })

  test('anything but CANCELED posted for a CANCELED fulfillment by its id: 400', async () => {
    const given = await addPending(lading, { status: 'CANCELED' })
    await expectUnchanged(sql, async () => {
      for (const status of ['NEW', 'OPEN', 'SUCCESS', 'BACKORDER']) {
        expectRefused(await given.ship(10, { id: given.fulfillment.id, status }), 'fulfillments[0].status')
      }
    })
  })
})

describe('short and absent lines', () => {
  test('nothing named: 400, nothing ships', async () => {
    const given = await addPending(lading)
    await expectUnchanged(sql, async () => {
      for (const status of ['OPEN', 'SUCCESS']) {
        for (const partialShipments of [true, false]) {
          expectRefused(await given.post({ status, lineItems: [] }, { partialShipments }), 'lineItems')
        }
      }
    })
  })

  test('the BACKORDER rest keeps order, location and warehouse_order_id, and is no candidate for the same message', async () => {
    const given = await addPending(lading)
    applied(await given.ship(8))
    const rest = (await fulfillmentsOf(a, given.order)).find(({ status }) => status === 'BACKORDER')
    expect(rest).toMatchObject({
      location_id: given.location,
      additional_fields: { warehouse_order_id: given.warehouseOrderId },
      fulfillment_line_items: [{ quantity: 2, sku: given.item.sku, order_line_item_id: given.order.lines[0]?.id }],
    })
    expectNothingNew(await given.ship(8))
    expect(await given.stock()).toBe('92/0')
  })

  test('a BACKORDER rest goes on as NEW and ships later: 92/0, 92/2, 90/0', async () => {
    const given = await addPending(lading)
    applied(await given.ship(8))
    const rest = (await fulfillmentsOf(a, given.order)).find(({ status }) => status === 'BACKORDER')
    await patchFulfillment(a, { id: rest?.id ?? '' }, { status: 'NEW' })
    expect(await given.stock()).toBe('92/2')
    applied(await given.ship(2, { id: rest?.id }))
    expect([await given.states(), await given.stock()]).toEqual([['OPEN 2', 'OPEN 8'], '90/0'])
  })

  test('a BACKORDER rest may be deleted', async () => {
    const given = await addPending(lading)
    applied(await given.ship(8))
    const rest = (await fulfillmentsOf(a, given.order)).find(({ status }) => status === 'BACKORDER')
    expect((await deleteFulfillment(a, { id: rest?.id ?? '' })).status).toBe(204)
    expect([await given.states(), await given.stock()]).toEqual([['OPEN 8'], '92/0'])
  })
})

describe('the same shipment with new tracking only', () => {
  test('is merged, 90/0 stays, no adjustment', async () => {
    const given = await addPending(lading)
    applied(await given.ship(10, { trackingNumber: 'T1', trackingUrls: ['https://track.example/T1'] }))
    expect(applied(await given.ship(10, { trackingNumber: 'T2', trackingUrls: ['https://track.example/T2'] }))).toEqual(
      { inventoryAdjustmentCount: 0, inventorySetCount: 0, orderActivityCount: 0, orderUpdateCount: 1 },
    )
    expect(await only(given)).toMatchObject({
      status: 'OPEN',
      tracking_number: 'T2',
      tracking_urls: ['https://track.example/T1', 'https://track.example/T2'],
    })
    expect(await given.stock()).toBe('90/0')
  })

  test('of a short shipment too: the rest on back order stays so', async () => {
    const given = await addPending(lading)
    applied(await given.ship(8, { trackingNumber: 'T1' }))
    applied(await given.ship(8, { trackingNumber: 'T2' }))
    expect([await given.states(), await given.stock()]).toEqual([['BACKORDER 2', 'OPEN 8'], '92/0'])
  })

  test('more units than have shipped: 400', async () => {
    const given = await addPending(lading)
    applied(await given.ship(8, { trackingNumber: 'T1' }))
    await expectUnchanged(sql, async () => expectRefused(await given.ship(9, { trackingNumber: 'T2' }), 'quantity'))
  })
})
