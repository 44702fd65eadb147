import { beforeEach, describe, expect, test } from 'vitest'
import { add, addLocation, dryRun, succeeded } from '../builders.ts'
import { patchFulfillment } from '../fulfillment/scenario.ts'
import { startLading } from '../harness/lading.ts'
import {
  addSending,
  addSendingStep,
  claim,
  fulfill as fulfillSending,
  queuedFor,
  type Sending,
} from './sending_builders.ts'

const lading = await startLading()
const { a, sql } = lading

let given: Sending
beforeEach(async () => {
  await sql`delete from api.fulfillments where status = 'NEW'`
  await sql`delete from graphile_worker._private_jobs`
  given = await addSending(lading)
})
const fulfill = (fields: Parameters<typeof fulfillSending>[2] = {}) => fulfillSending(lading, given, fields)
const sweep = async () => {
  const [row] = await sql<{ queued: string }[]>`select internal.queue_missed_fulfillments() as queued`
  return Number(row?.queued)
}

describe('a fulfillment with lines that becomes NEW at a mapped location is queued', () => {
  test('by create_fulfillment', async () => {
    const { id } = succeeded(
      await a.rest.rpc<{ id: string }>('create_fulfillment', {
        fulfillment: {
          order_id: given.order.id,
          location_id: given.location,
          line_items: [{ sku: given.item.sku, quantity: 10 }],
        },
      }),
    )
    expect(await queuedFor(lading)).toEqual([id])
  })

  test('in the transaction: what is rolled back is not queued', async () => {
    await a.rest.rpc(
      'create_fulfillment',
      {
        fulfillment: {
          order_id: given.order.id,
          location_id: given.location,
          line_items: [{ sku: given.item.sku, quantity: 10 }],
        },
      },
      dryRun,
    )
    expect(await queuedFor(lading)).toEqual([])
  })

  test('by plain inserts: once it has lines, not before; more lines queue it no second time', async () => {
    const { id } = await fulfill({ lines: [] })
    expect(await queuedFor(lading)).toEqual([])
    const line = { fulfillment_id: id, inventory_item_id: given.item.id, quantity: 3 }
    await add(a, 'fulfillment_line_items', line)
    expect(await queuedFor(lading)).toEqual([id])
    await add(a, 'fulfillment_line_items', line)
    expect(await queuedFor(lading)).toEqual([id])
  })

  test('when it is moved to a mapped location', async () => {
    const { id } = await fulfill({ location: await addLocation(a) })
    expect(await queuedFor(lading)).toEqual([])
    succeeded(await patchFulfillment(a, { id }, { location_id: given.location }))
    expect(await queuedFor(lading)).toEqual([id])
  })

  test('when it goes from BACKORDER to NEW', async () => {
    const { id } = await fulfill({ status: 'BACKORDER' })
    expect(await queuedFor(lading)).toEqual([])
    succeeded(await patchFulfillment(a, { id }, { status: 'NEW' }))
    expect(await queuedFor(lading)).toEqual([id])
  })

  test('many in one statement', async () => {
    const fulfillments = [await fulfill({ lines: [] }), await fulfill({ lines: [] })]
    succeeded(
      await a.rest.post(
        '/fulfillment_line_items',
        fulfillments.map(({ id }) => ({
          business_id: a.id,
          fulfillment_id: id,
          inventory_item_id: given.item.id,
          quantity: 5,
        })),
      ),
    )
    expect((await queuedFor(lading)).sort()).toEqual(fulfillments.map(({ id }) => id).sort())
  })

  test('not: another state, no mapped location, a step that is not enabled, fields that do not matter', async () => {
    await fulfill({ status: 'PENDING', lines: [{ item: given.item, quantity: 1 }] })
    await fulfill({ location: await addLocation(a), lines: [{ item: given.item, quantity: 1 }] })
    await fulfill({ location: null, lines: [{ item: given.item, quantity: 1 }] })
    expect(await queuedFor(lading)).toEqual([])
    const { id } = await fulfill({ lines: [{ item: given.item, quantity: 1 }] })
    await sql`delete from graphile_worker._private_jobs`
    succeeded(await patchFulfillment(a, { id }, { tracking_number: 'T1' }))
    expect(await queuedFor(lading)).toEqual([])
    succeeded(await a.rest.patch(`/send_orders_steps?id=eq.${given.step}`, { is_enabled: false }))
    await fulfill({ lines: [{ item: given.item, quantity: 1 }] })
    expect(await queuedFor(lading)).toEqual([])
  })
})

describe('the sweep finds what was missed', () => {
  test('a location mapped later, a step enabled later', async () => {
    const location = await addLocation(a)
    const { id } = await fulfill({ location })
    expect(await sweep()).toBe(0)
    const step = await addSendingStep(a, location, { is_enabled: false })
    expect(await sweep()).toBe(0)
    succeeded(await a.rest.patch(`/send_orders_steps?id=eq.${step}`, { is_enabled: true }))
    expect([await sweep(), await queuedFor(lading)]).toEqual([1, [id]])
    expect([await sweep(), await queuedFor(lading)]).toEqual([1, [id]])
  })

  test('a claim whose worker died, once its lease is over; one that is being sent is left alone', async () => {
    const fulfillment = await fulfill()
    await sql`delete from graphile_worker._private_jobs`
    await claim(lading, fulfillment)
    expect(await sweep()).toBe(0)
    await sql`update internal.send_order_claims set lease_expires_time = now() - interval '1 s'`
    expect([await sweep(), await queuedFor(lading)]).toEqual([1, [fulfillment.id]])
  })

  test('not: without lines, PENDING, ended', async () => {
    await fulfill({ lines: [] })
    const one = [{ item: given.item, quantity: 1 }]
    for (const status of ['PENDING', 'OPEN', 'CANCELED', 'BACKORDER'] as const) await fulfill({ status, lines: one })
    expect(await sweep()).toBe(0)
  })
})
