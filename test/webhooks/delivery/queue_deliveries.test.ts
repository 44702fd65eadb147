import { expect, test } from 'vitest'
import { addShipment } from '../../builders.ts'
import { startLading } from '../../harness/lading.ts'
import { addConfiguration, fire } from '../webhooks.ts'

const lading = await startLading()
const { a, sql } = lading

const jobsOf = (configuration: { id: string }) =>
  sql<{ key: string; seconds: number }[]>`
    select key, round(extract(epoch from run_at - now()))::integer as seconds from graphile_worker.jobs
    where task_identifier = 'deliver_webhooks' and key like ${`%${configuration.id}`} order by key`

test('firing queues one job per configuration, however many events', async () => {
  const configurations = [await addConfiguration(a), await addConfiguration(a)]
  for (let made = 0; made < 3; made += 1) await addShipment(a, {})
  await fire(sql)
  for (const configuration of configurations) expect(await jobsOf(configuration)).toHaveLength(1)
})

test('the job of the next attempt stands beside the one that runs at once', async () => {
  const configuration = await addConfiguration(a, { actions: ['shipment.created'] })
  await addShipment(a, {})
  await fire(sql)
  await sql`
    update api.webhook_deliveries set next_attempt_time = now() + interval '5 min'
    where webhook_configuration_id = ${configuration.id}`
  await sql`select internal.queue_next_deliveries(${configuration.id})`
  expect(await jobsOf(configuration)).toMatchObject([
    { key: `deliver_webhooks ${configuration.id}`, seconds: expect.toSatisfy((seconds) => seconds <= 0) },
    { key: `deliver_webhooks next ${configuration.id}`, seconds: expect.toSatisfy((seconds) => seconds > 290) },
  ])
  await addShipment(a, {})
  await sql`select internal.queue_next_deliveries(${configuration.id})`
  expect(await jobsOf(configuration)).toHaveLength(2)
})

test('the sweep finds configurations that have something due, and no others', async () => {
  const [due, waiting] = [
    await addConfiguration(a, { actions: ['shipment.created'] }),
    await addConfiguration(a, { actions: ['shipment.created'] }),
  ]
  await addShipment(a, {})
  await fire(sql)
  await sql`
    update api.webhook_deliveries set next_attempt_time = now() + interval '5 min'
    where webhook_configuration_id = ${waiting.id}`
  await sql`delete from graphile_worker._private_jobs`
  await sql`select internal.queue_due_deliveries()`
  expect(await jobsOf(due)).toHaveLength(1)
  expect(await jobsOf(waiting)).toHaveLength(0)
})
