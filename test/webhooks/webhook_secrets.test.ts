import { expect, test } from 'vitest'
import { readResources } from '../access/exposed.ts'
import { startLading } from '../harness/lading.ts'

const lading = await startLading()

await lading.a.rest.post(
  '/webhook_configurations',
  [1, 2, 3].map((n) => ({ business_id: lading.a.id, hook_consumer_url: `https://consumer.example/${n}` })),
)
const secrets = await lading.sql<{ secret: string; webhook_configuration_id: string }[]>`
  select secret, webhook_configuration_id from internal.webhook_secrets`

test('every configuration has a secret of its own from the start: whsec_ and 32 random bytes', () => {
  expect(new Set(secrets.map((row) => row.webhook_configuration_id)).size).toBe(3)
  expect(new Set(secrets.map((row) => row.secret)).size).toBe(3)
  for (const { secret } of secrets) {
    expect(secret).toMatch(/^whsec_/)
    expect(Buffer.from(secret.slice('whsec_'.length), 'base64')).toHaveLength(32)
  }
})

test('only one is current', async () => {
  await expect(
    lading.sql`
      insert into internal.webhook_secrets (business_id, webhook_configuration_id)
      select business_id, webhook_configuration_id from internal.webhook_secrets limit 1`,
  ).rejects.toMatchObject({ code: '23505' })
})

test('no resource lists one, in its records or its errors', async () => {
  for (const { name } of await readResources(lading.sql)) {
    for (const rest of [lading.a.rest, lading.operator]) {
      const text = JSON.stringify((await rest.get(`/${name}`)).body)
      expect(secrets.filter(({ secret }) => text.includes(secret))).toEqual([])
    }
  }
  expect((await lading.a.rest.get('/webhook_configurations?select=*,webhook_secrets(*)')).status).toBe(400)
  expect((await lading.a.rest.get('/webhook_configurations?select=secret')).status).toBe(400)
})
