import { once } from 'node:events'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { addShipment } from '../../builders.ts'
import { startLading } from '../../harness/lading.ts'
import { until } from '../../harness/npm_start.ts'
import { startWorkerProcess } from '../../worker/worker_process.ts'
import { answering, type Inbox, startConsumer, verified } from '../consumer.ts'
import { addConfiguration, attemptsOf, deliveriesOf, fire, secretsOf, untilDeliveries } from '../webhooks.ts'

const lading = await startLading()
const { a, sql } = lading
const consumer = await startConsumer()
afterAll(() => consumer.close())
beforeEach(() => sql`delete from graphile_worker._private_jobs`)

const actions = ['shipment.created']

const expireLeases = () => sql`update api.webhook_deliveries set next_attempt_time = now() where state = 'sending'`
const sweep = () => sql`select internal.queue_due_deliveries()`

const end = async (child: Awaited<ReturnType<typeof startWorkerProcess>>, signal: 'SIGKILL' | 'SIGTERM') => {
  child.kill(signal)
  await once(child, 'exit')
}

/** Another worker finishes what is left: each event once more at most, recorded once. */
const finishedByAnother = async (configuration: { id: string }, inbox: Inbox) => {
  const second = await startWorkerProcess(lading.ownerUrl)
  await sweep()
  const deliveries = await untilDeliveries(a, configuration, ({ state }) => state === 'delivered')
  await end(second, 'SIGTERM')
  const [secret = ''] = await secretsOf(sql, configuration)
  for (const webhook of inbox.received) expect(verified(webhook, secret)).toEqual(webhook.body)
  for (const delivery of deliveries) {
    expect(delivery.attempt_count).toBe(1)
    expect(await attemptsOf(a, delivery)).toHaveLength(1)
    expect(inbox.received.filter(({ body }) => body.id === delivery.event_id).length).toBeGreaterThan(0)
  }
  return deliveries
}

test('killed while it sends: at least once to the consumer, once in the log, not before the lease runs out', async () => {
  const inbox = consumer.addInbox(() => undefined)
  const configuration = await addConfiguration(a, { url: inbox.url, actions })
  await addShipment(a, {})
  const first = await startWorkerProcess(lading.ownerUrl)
  await fire(sql)
  await inbox.untilReceived(1)
  await end(first, 'SIGKILL')
  expect(await deliveriesOf(a, configuration)).toMatchObject([{ state: 'sending', attempt_count: 0 }])
  await sweep()
  expect(
    await sql`
    select from graphile_worker.jobs where key = ${`deliver_webhooks ${configuration.id}`} and locked_at is null`,
  ).toHaveLength(0)

  inbox.answer = answering(200)
  await expireLeases()
  await finishedByAnother(configuration, inbox)
  expect(inbox.received).toHaveLength(2)
})

test('killed at any moment of many deliveries: none is lost, none recorded twice', async () => {
  const inbox = consumer.addInbox((_webhook, response) => setTimeout(() => response.end(), 5))
  const configuration = await addConfiguration(a, { url: inbox.url, actions })
  await Promise.all(Array.from({ length: 60 }, () => addShipment(a, {})))
  let enough = 1
  for (let kill = 0; kill < 2; kill += 1) {
    const child = await startWorkerProcess(lading.ownerUrl)
    if (kill === 0) await fire(sql)
    else {
      await expireLeases()
      await sweep()
    }
    enough = inbox.received.length + 10 * (kill + 1)
    await until('some have arrived', () => inbox.received.length >= enough)
    await end(child, 'SIGKILL')
  }
  await expireLeases()
  const deliveries = await finishedByAnother(configuration, inbox)
  expect(deliveries).toHaveLength(60)
  expect(new Set(inbox.received.map(({ body }) => body.id)).size).toBe(60)
})

test('killed while it fires: ready or sent, never in between, and the next worker fires the rest', async () => {
  const inbox = consumer.addInbox(answering(200))
  const configuration = await addConfiguration(a, { url: inbox.url, actions })
  await Promise.all(Array.from({ length: 40 }, () => addShipment(a, {})))
  const child = await startWorkerProcess(lading.ownerUrl)
  await end(child, 'SIGKILL')
  const [counts] = await sql<{ sent: number; delivered: number }[]>`
    select (
        select count(*) from api.shipment_webhooks w
        where w.status = 'sent' and w.id in (select event_id from api.webhook_deliveries where webhook_configuration_id = ${configuration.id})
      )::integer as sent,
      (select count(*) from api.webhook_deliveries where webhook_configuration_id = ${configuration.id})::integer as delivered`
  expect(counts?.sent).toBe(counts?.delivered)
  await expireLeases()
  const second = await startWorkerProcess(lading.ownerUrl)
  await sweep()
  await until('all have arrived', () => new Set(inbox.received.map(({ body }) => body.id)).size === 40)
  await untilDeliveries(a, configuration, ({ state }) => state === 'delivered')
  await end(second, 'SIGTERM')
})

test('told to stop while it sends: no failure of the consumer, due again at once', async () => {
  const inbox = consumer.addInbox(() => undefined)
  const configuration = await addConfiguration(a, { url: inbox.url, actions })
  await addShipment(a, {})
  const first = await startWorkerProcess(lading.ownerUrl)
  await fire(sql)
  await inbox.untilReceived(1)
  await end(first, 'SIGTERM')
  const [delivery] = await deliveriesOf(a, configuration)
  expect(delivery).toMatchObject({ state: 'pending', attempt_count: 0, error: null })
  inbox.answer = answering(200)
  await finishedByAnother(configuration, inbox)
})
