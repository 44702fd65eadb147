import { expect, test } from 'vitest'
import { startLading } from '../harness/lading.ts'

const lading = await startLading()
const representation = { Prefer: 'return=representation' }
const configure = async (business: typeof lading.a): Promise<string> => {
  const row = { business_id: business.id, hook_consumer_url: 'https://consumer.example' }
  const { body } = await business.rest.post<{ id: string }[]>('/webhook_configurations', row, representation)
  return body[0]?.id ?? ''
}
const webhook_configuration_id = await configure(lading.a)
const foreign = await configure(lading.b)

const subscribe = (row: Record<string, unknown>, rest = lading.a.rest) =>
  rest.post('/webhook_configuration_actions', row, representation)

test('the business need not be sent: it is that of the configuration, for operators too', async () => {
  const subscribed = { webhook_configuration_id, action: 'shipment.created', capture_snapshot: true }
  expect(await subscribe(subscribed)).toMatchObject({
    status: 201,
    body: [{ ...subscribed, business_id: lading.a.id }],
  })
  const byOperator = await subscribe({ webhook_configuration_id, action: 'shipment.deleted' }, lading.operator)
  expect(byOperator).toMatchObject({ status: 201, body: [{ business_id: lading.a.id, capture_snapshot: false }] })
})

test('each action once per configuration: 409', async () => {
  const row = { webhook_configuration_id, action: 'shipment.updated' }
  expect((await subscribe(row)).status).toBe(201)
  expect(await subscribe(row)).toMatchObject({ status: 409, body: { code: '23505' } })
  expect((await subscribe({ ...row, webhook_configuration_id: await configure(lading.a) })).status).toBe(201)
})

test('an unknown configuration, or one of another business, is refused', async () => {
  for (const id of [crypto.randomUUID(), foreign]) {
    const row = { webhook_configuration_id: id, action: 'shipment.created' }
    expect((await subscribe(row)).status).toBe(409)
    expect((await subscribe({ ...row, business_id: lading.a.id }, lading.operator)).status).toBe(409)
  }
  const unknown = { webhook_configuration_id: crypto.randomUUID(), action: 'shipment.created' }
  expect(await subscribe(unknown, lading.operator)).toMatchObject({
    status: 400,
    body: { message: 'webhook_configuration_id: no such webhook configuration' },
  })
})

test('an unknown action is refused: 409', async () => {
  expect((await subscribe({ webhook_configuration_id, action: 'shipment.sunk' })).status).toBe(409)
})
