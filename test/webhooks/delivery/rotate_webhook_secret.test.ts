import { expect, test } from 'vitest'
import { succeeded } from '../../builders.ts'
import { startLading } from '../../harness/lading.ts'
import { addConfiguration, secretsOf } from '../webhooks.ts'

const lading = await startLading()
const { a, b, sql } = lading
const configuration = await addConfiguration(a)
const parameters = { webhook_configuration_id: configuration.id }

test('gives a new secret, told once; the former one signs for 24 hours more', async () => {
  const [former] = await secretsOf(sql, configuration)
  const { secret } = succeeded(await a.rest.rpc<{ secret: string }>('rotate_webhook_secret', parameters))
  expect(secret).toMatch(/^whsec_/)
  expect(await secretsOf(sql, configuration)).toEqual([secret, former])
  const [row] = await sql<{ hours: number }[]>`
    select extract(epoch from expires_time - now()) / 3600 as hours
    from internal.webhook_secrets where secret = ${former ?? ''}`
  expect(Number(row?.hours)).toBeCloseTo(24, 1)
})

test('two at the same time: one is current', async () => {
  const answers = await Promise.all(Array.from({ length: 4 }, () => a.rest.rpc('rotate_webhook_secret', parameters)))
  expect(answers.every(({ status }) => status === 200 || status === 409)).toBe(true)
  expect(
    await sql`
      select from internal.webhook_secrets
      where webhook_configuration_id = ${configuration.id} and expires_time is null`,
  ).toHaveLength(1)
})

test('for another business 404, with a warehouse key 403', async () => {
  const before = await secretsOf(sql, configuration)
  expect((await b.rest.rpc('rotate_webhook_secret', parameters)).status).toBe(404)
  expect((await lading.rest(a.warehouseKey).rpc('rotate_webhook_secret', parameters)).status).toBe(403)
  expect(await secretsOf(sql, configuration)).toEqual(before)
})
