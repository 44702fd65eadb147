import { beforeEach, describe, expect, test } from 'vitest'
import { addLocation, distinct, succeeded } from '../builders.ts'
import { fulfillmentsOf, patchFulfillment } from '../fulfillment/scenario.ts'
import { startLading } from '../harness/lading.ts'
import {
  addSending,
  addSendingStep,
  claim,
  fulfill as fulfillSending,
  payloadUrl,
  type Sending,
} from './sending_builders.ts'

const lading = await startLading()
const { a, sql } = lading

let given: Sending
beforeEach(async () => {
  given = await addSending(lading, { auth_query_field: 'token', auth_query_value: 's3cret' })
})
const fulfill = (fields: Parameters<typeof fulfillSending>[2] = {}) => fulfillSending(lading, given, fields)

describe('claiming a NEW fulfillment', () => {
  test('returns the request to make: address, authentication pair, payload', async () => {
    const fulfillment = await fulfill()
    expect(await claim(lading, fulfillment)).toMatchObject({
      token: 1,
      url: payloadUrl,
      auth_query_field: 'token',
      auth_query_value: 's3cret',
      payload: { orderId: given.order.id, status: 'NEW', lineItems: [{ quantity: 10 }] },
    })
  })

  test("the entry's webhookUrl is used instead of payload_url, without the authentication pair", async () => {
    const webhookUrl = 'https://hook.example/in'
    succeeded(
      await a.rest.patch(`/send_orders_steps?id=eq.${given.step}`, {
        warehouse_location_map: [{ locationId: given.location, webhookUrl }],
      }),
    )
    expect(await claim(lading, await fulfill())).toMatchObject({
      url: webhookUrl,
      auth_query_field: null,
      auth_query_value: null,
    })
  })

  test('a step without authentication pair', async () => {
    const plain = await addSending(lading)
    const fulfillment = await fulfillSending(lading, plain)
    expect(await claim(lading, fulfillment)).toMatchObject({
      url: payloadUrl,
      auth_query_field: null,
      auth_query_value: null,
    })
  })

  test('without warehouse_order_id it is given its own id as one; with one it keeps it', async () => {
    const [one, two] = [
      await fulfill({ lines: [{ item: given.item, quantity: 5 }], additional_fields: { gift: 'yes' } }),
      await fulfill({ lines: [{ item: given.item, quantity: 5 }], additional_fields: { warehouse_order_id: 'W 1' } }),
    ]
    expect((await claim(lading, one))?.payload.warehouseOrderId).toBe(one.id)
    expect((await claim(lading, two))?.payload.warehouseOrderId).toBe('W 1')
    expect((await fulfillmentsOf(a, given.order)).map(({ additional_fields }) => additional_fields)).toEqual([
      { gift: 'yes', warehouse_order_id: one.id },
      { warehouse_order_id: 'W 1' },
    ])
  })

  test('nothing to send: no such fulfillment, no lines, not NEW any more, not mapped, step off', async () => {
    expect(await claim(lading, { id: crypto.randomUUID() })).toBeNull()
    expect(await claim(lading, await fulfill({ lines: [] }))).toBeNull()
    const one = [{ item: given.item, quantity: 1 }]
    for (const status of ['PENDING', 'OPEN', 'SUCCESS', 'CANCELED', 'BACKORDER'] as const) {
      expect(await claim(lading, await fulfill({ status, lines: one }))).toBeNull()
    }
    expect(await claim(lading, await fulfill({ location: await addLocation(a), lines: one }))).toBeNull()
    expect(await claim(lading, await fulfill({ location: null, lines: one }))).toBeNull()
    const fulfillment = await fulfill({ lines: one })
    succeeded(await a.rest.patch(`/send_orders_steps?id=eq.${given.step}`, { is_enabled: false }))
    expect(await claim(lading, fulfillment)).toBeNull()
    expect(await sql`select from internal.send_order_claims where fulfillment_id = ${fulfillment.id}`).toHaveLength(0)
  })

  test('while one claim lasts there is no other; after its lease the token grows', async () => {
    const fulfillment = await fulfill()
    expect((await claim(lading, fulfillment, '0.5 s'))?.token).toBe(1)
    expect(await claim(lading, fulfillment)).toBeNull()
    await sql`select pg_sleep(0.6)`
    expect((await claim(lading, fulfillment))?.token).toBe(2)
    expect(await claim(lading, fulfillment)).toBeNull()
  })

  test('twenty workers at once: one gets it', async () => {
    const fulfillment = await fulfill()
    const claims = await Promise.all(Array.from({ length: 20 }, () => claim(lading, fulfillment)))
    expect(claims.filter((request) => request !== null)).toHaveLength(1)
  })

  test('where several steps map the location, the oldest enabled one sends', async () => {
    const other = await addSendingStep(a, given.location, { payload_url: 'https://other.example/' })
    expect((await claim(lading, await fulfill({ lines: [{ item: given.item, quantity: 1 }] })))?.url).toBe(payloadUrl)
    succeeded(await a.rest.patch(`/send_orders_steps?id=eq.${given.step}`, { is_enabled: false }))
    expect((await claim(lading, await fulfill({ lines: [{ item: given.item, quantity: 1 }] })))?.url).toBe(
      'https://other.example/',
    )
    succeeded(await a.rest.delete(`/send_orders_steps?id=eq.${other}`))
  })

  test('a claim does not keep the fulfillment from being canceled or deleted', async () => {
    const fulfillment = await fulfill({ additional_fields: { warehouse_order_id: distinct('WO') } })
    await claim(lading, fulfillment)
    succeeded(await patchFulfillment(a, fulfillment, { status: 'CANCELED' }))
    succeeded(await a.rest.delete(`/fulfillments?id=eq.${fulfillment.id}`))
  })
})
