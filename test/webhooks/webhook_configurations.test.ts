import { describe, expect, test } from 'vitest'
import { startLading } from '../harness/lading.ts'

interface Configuration {
  id: string
  business_id: string
  producer_url: string
}

const lading = await startLading()
const representation = { Prefer: 'return=representation' }
const create = (row: Record<string, unknown> = {}) =>
  lading.a.rest.post<Configuration[]>(
    '/webhook_configurations',
    { business_id: lading.a.id, hook_consumer_url: 'https://consumer.example/hook', ...row },
    representation,
  )

test('is made from a business and a consumer address, and found by its business', async () => {
  const { status, body } = await create()
  expect(status).toBe(201)
  const found = await lading.a.rest.get<Configuration[]>(`/webhook_configurations?business_id=eq.${lading.a.id}`)
  expect(found.body.map(({ id }) => id)).toContain(body[0]?.id)
})

describe('producer_url', () => {
  const ours = `${lading.baseUrl}/v1/deliveries`

  test('is the delivery address of this installation unless another is given', async () => {
    expect((await create()).body).toMatchObject([{ producer_url: ours }])
    expect((await create({ producer_url: 'https://relay.example' })).body).toMatchObject([
      { producer_url: 'https://relay.example' },
    ])
  })

  test('set to null it is the default again', async () => {
    const [row] = (await create({ producer_url: 'https://relay.example' })).body
    const path = `/webhook_configurations?id=eq.${row?.id}`
    expect((await lading.a.rest.patch(path, { producer_url: null }, representation)).body).toMatchObject([
      { producer_url: ours },
    ])
  })
})

test.each(['consumer.example', 'ftp://consumer.example', 'https://', 'https:// consumer.example', ''])(
  'hook_consumer_url "%s" is refused: 400',
  async (hook_consumer_url) => {
    expect((await create({ hook_consumer_url })).status).toBe(400)
  },
)

test('deleting one takes its subscriptions and its secret along', async () => {
  const [row] = (await create()).body
  const subscription = { webhook_configuration_id: row?.id, action: 'shipment.created' }
  expect((await lading.a.rest.post('/webhook_configuration_actions', subscription)).status).toBe(201)
  expect((await lading.a.rest.delete(`/webhook_configurations?id=eq.${row?.id}`)).status).toBe(204)
  const left = await lading.a.rest.get(`/webhook_configuration_actions?webhook_configuration_id=eq.${row?.id}`)
  expect(left.body).toEqual([])
  expect(
    await lading.sql`select from internal.webhook_secrets where webhook_configuration_id = ${row?.id ?? null}`,
  ).toHaveLength(0)
})
