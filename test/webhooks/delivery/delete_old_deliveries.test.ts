import { afterAll, expect, test } from 'vitest'
import { makeLog } from '../../../stack/log.ts'
import { startWorker } from '../../../worker/worker.ts'
import { startLading } from '../../harness/lading.ts'
import { until } from '../../harness/npm_start.ts'
import { addConfiguration } from '../webhooks.ts'

const lading = await startLading()
const { a, sql } = lading
const worker = await startWorker({
  ownerUrl: lading.ownerUrl,
  concurrency: 2,
  retentionDays: 7,
  fireSeconds: 3_600,
  log: makeLog('silent', 'test'),
})
afterAll(() => worker.stop())

const configuration = await addConfiguration(a)
await sql`
  insert into api.webhook_deliveries (id, business_id, webhook_configuration_id, event_id, action, object_id, sequence, event_time, payload_bytes, state, next_attempt_time, ended_time, creation_time)
  select uuidv7(-age), ${a.id}, ${configuration.id}, uuidv7(), 'shipment.created', uuidv7(), 1, now() - age, 2,
    case when ended then 'delivered' else 'pending' end::api.webhook_delivery_state,
    case when not ended then now() + interval '1 day' end, case when ended then now() - age end, now() - age
  from (values (interval '8 days', true, 2500), (interval '8 days', false, 1), (interval '6 days', true, 3)) v (age, ended, times)
  cross join generate_series(1, times)`
await sql`
  insert into api.webhook_delivery_attempts (business_id, webhook_delivery_id, attempt_number, request_url, duration_ms)
  select business_id, id, 1, 'https://consumer.example', 1 from api.webhook_deliveries`

const left = (table: 'webhook_deliveries' | 'webhook_delivery_attempts') => sql`select from api.${sql(table)}`

test('a batch at a time', async () => {
  const [row] = await sql<{ deleted: number }[]>`select internal.delete_old_deliveries(7, 500) as deleted`
  expect(row?.deleted).toBe(500)
  expect(await left('webhook_deliveries')).toHaveLength(2_004)
})

test('the worker deletes all that ended so many days ago with their attempts, and keeps what has not ended', async () => {
  await sql`select internal.add_job('delete_old_deliveries', '{}')`
  await until('the old ones are gone', async () => (await left('webhook_deliveries')).length === 4)
  expect(await left('webhook_delivery_attempts')).toHaveLength(4)
})
