import { beforeEach, describe, expect, test } from 'vitest'
import { addLocation, distinct, succeeded } from '../builders.ts'
import { applied, postCallback } from '../fulfillment/callback.ts'
import { activitiesOf, addStep, deleteFulfillment, patchFulfillment } from '../fulfillment/scenario.ts'
import { startLading } from '../harness/lading.ts'
import { addSending, addSendingStep, fulfill as fulfillSending, queuedFor, type Sending } from './sending_builders.ts'

const lading = await startLading()
const { a, sql } = lading
const cancelEndpoint = 'https://warehouse.example/cancel'

let given: Sending
beforeEach(async () => {
  await sql`delete from graphile_worker._private_jobs`
  given = await addSending(lading)
  succeeded(
    await a.rest.patch(`/send_orders_steps?id=eq.${given.step}`, {
      warehouse_location_map: [{ locationId: given.location, cancelEndpoint }],
    }),
  )
})
const fulfill = (fields: Parameters<typeof fulfillSending>[2] = {}) =>
  fulfillSending(lading, given, { status: 'PENDING', ...fields })
const request = async (fulfillment: { id: string }) => {
  const [row] = await sql<{ request: unknown }[]>`select internal.cancellation_request(${fulfillment.id}) as request`
  return row?.request
}

describe('a PENDING fulfillment that is canceled through the table resource', () => {
  test('is queued, once, in the transaction', async () => {
    const fulfillment = await fulfill()
    succeeded(await patchFulfillment(a, fulfillment, { status: 'CANCELED' }))
    succeeded(await patchFulfillment(a, fulfillment, { status: 'CANCELED' }))
    expect(await queuedFor(lading, 'cancel_order')).toEqual([fulfillment.id])
  })

  test('a dry run queues nothing', async () => {
    const fulfillment = await fulfill()
    await a.rest.patch(`/fulfillments?id=eq.${fulfillment.id}`, { status: 'CANCELED' }, { Prefer: 'tx=rollback' })
    expect(await queuedFor(lading, 'cancel_order')).toEqual([])
  })

  test('the request: {warehouseOrderId, fulfillmentId, reason} to the cancelEndpoint', async () => {
    const warehouse_order_id = distinct('WO')
    succeeded(await a.rest.patch(`/orders?id=eq.${given.order.id}`, { canceled_reason: 'changed their mind' }))
    const fulfillment = await fulfill({ additional_fields: { warehouse_order_id } })
    expect(await request(fulfillment)).toBeNull()
    succeeded(await patchFulfillment(a, fulfillment, { status: 'CANCELED' }))
    expect(await request(fulfillment)).toEqual({
      url: cancelEndpoint,
      payload: { warehouseOrderId: warehouse_order_id, fulfillmentId: fulfillment.id, reason: 'changed their mind' },
    })
  })

  test('a reason is always given; the fulfillment is its own warehouse order without warehouse_order_id', async () => {
    const fulfillment = await fulfill()
    succeeded(await patchFulfillment(a, fulfillment, { status: 'CANCELED' }))
    expect(await request(fulfillment)).toMatchObject({
      payload: { warehouseOrderId: fulfillment.id, reason: expect.stringMatching(/./) },
    })
  })

  test('the outcome is an activity', async () => {
    const fulfillment = await fulfill()
    succeeded(await patchFulfillment(a, fulfillment, { status: 'CANCELED' }))
    await sql`select internal.record_cancellation(${fulfillment.id}, false, 'HTTP status: 500')`
    await sql`select internal.record_cancellation(${fulfillment.id}, true, 'HTTP status: 200')`
    expect(await activitiesOf(a, given.order)).toMatchObject([
      { fulfillment_id: fulfillment.id, result: 'ERROR', description: 'HTTP status: 500' },
      { fulfillment_id: fulfillment.id, result: 'SUCCESS', description: 'HTTP status: 200' },
    ])
  })
})

describe('nothing to tell', () => {
  test('a NEW or BACKORDER one is canceled: the warehouse never had it', async () => {
    for (const status of ['NEW', 'BACKORDER'] as const) {
      const fulfillment = await fulfill({ status, lines: [{ item: given.item, quantity: 1 }] })
      succeeded(await patchFulfillment(a, fulfillment, { status: 'CANCELED' }))
    }
    expect(await queuedFor(lading, 'cancel_order')).toEqual([])
  })

  test('no cancelEndpoint, no mapped location', async () => {
    const plain = await addSending(lading)
    for (const location of [plain.location, await addLocation(a)]) {
      const fulfillment = await fulfillSending(lading, plain, {
        location,
        lines: [{ item: plain.item, quantity: 1 }],
        status: 'PENDING',
      })
      succeeded(await patchFulfillment(a, fulfillment, { status: 'CANCELED' }))
      expect(await request(fulfillment)).toBeNull()
    }
    expect(await queuedFor(lading, 'cancel_order')).toEqual([])
  })

  test('it ships, goes on back order or is deleted', async () => {
    const one = [{ item: given.item, quantity: 1 }]
    for (const status of ['OPEN', 'BACKORDER']) {
      succeeded(await patchFulfillment(a, await fulfill({ lines: one }), { status }))
    }
    succeeded(await deleteFulfillment(a, await fulfill({ lines: one })))
    expect(await queuedFor(lading, 'cancel_order')).toEqual([])
  })

  test('the warehouse itself canceled it by a callback', async () => {
    const step = await addStep(a, [given.location])
    const warehouse_order_id = distinct('WO')
    await fulfill({ additional_fields: { warehouse_order_id }, lines: [{ item: given.item, quantity: 5 }] })
    applied(
      await postCallback(lading, step, { warehouseOrderId: warehouse_order_id, cancellationReason: 'out of stock' }),
    )
    await fulfill({ lines: [{ item: given.item, quantity: 5 }] })
    applied(
      await postCallback(lading, step, {
        orderUpdate: {
          id: given.order.id,
          fulfillments: [{ locationId: given.location, status: 'CANCELED', lineItems: [] }],
        },
      }),
    )
    expect(await queuedFor(lading, 'cancel_order')).toEqual([])
  })

  test('a step that is not enabled', async () => {
    const off = await addSendingStep(a, null, { is_enabled: false })
    succeeded(await a.rest.patch(`/send_orders_steps?id=in.(${off},${given.step})`, { is_enabled: false }))
    succeeded(await patchFulfillment(a, await fulfill(), { status: 'CANCELED' }))
    expect(await queuedFor(lading, 'cancel_order')).toEqual([])
  })
})
