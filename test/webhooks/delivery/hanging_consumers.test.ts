import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, expect, test } from 'vitest'
import { makeLog } from '../../../stack/log.ts'
import { startWorker } from '../../../worker/worker.ts'
import { addShipment } from '../../builders.ts'
import { startLading } from '../../harness/lading.ts'
import { startConsumer } from '../consumer.ts'
import { addConfiguration, deliveriesOf, fire, untilDeliveries } from '../webhooks.ts'

const lading = await startLading()
const { a, b, sql } = lading
const consumer = await startConsumer()
const worker = await startWorker({
  ownerUrl: lading.ownerUrl,
  concurrency: 2,
  allowPrivateAddresses: true,
  deliverMilliseconds: 4_000,
  fireSeconds: 1,
  log: makeLog('silent', 'test'),
})
afterAll(async () => {
  await worker.stop()
  await consumer.close()
})

test('consumers that hang, more than the worker has places, hold back nobody else', async () => {
  const hanging = Array.from({ length: 12 }, () => consumer.addInbox(() => undefined))
  const configurations: { id: string }[] = []
  for (const { url } of hanging) {
    configurations.push(await addConfiguration(a, { url, actions: ['shipment.created'] }))
  }
  const good = consumer.addInbox()
  await addConfiguration(b, { url: good.url, actions: ['shipment.created'], is_immediate: true })
  for (let made = 0; made < 5; made += 1) await addShipment(a, {})
  await fire(sql)
  await Promise.all(hanging.map((inbox) => inbox.untilReceived(1)))

  for (let made = 1; made <= 3; made += 1) {
    const begun = performance.now()
    await addShipment(b, {})
    await good.untilReceived(made, 2_000)
    expect(performance.now() - begun).toBeLessThan(2_000)
  }
  expect(
    hanging.map(({ received }) => received.length).every((count) => count <= 2),
    'few at once to one that does not answer',
  ).toBe(true)
  for (const configuration of configurations) {
    expect((await deliveriesOf(a, configuration)).filter(({ attempt_count }) => attempt_count > 0)).toEqual([])
  }
})

test('one request that hangs does not keep other events of its consumer waiting', async () => {
  const inbox = consumer.addInbox((webhook, response) => {
    if (webhook.body.type === 'shipment.updated') response.writeHead(204).end()
  })
  await addConfiguration(b, { url: inbox.url, actions: ['shipment.created', 'shipment.updated'], is_immediate: true })
  const earlier = await addShipment(b, {})
  await inbox.untilReceived(1)
  const other = await addShipment(b, {})
  await inbox.untilReceived(2, 1_500)
  expect(inbox.received.map(({ body }) => body.data.id)).toEqual([earlier.id, other.id])
})

test('WEBHOOK_FIRE_SECONDS: events fire by themselves, and one job is waiting for the next time', async () => {
  const inbox = consumer.addInbox()
  const configuration = await addConfiguration(b, { url: inbox.url, actions: ['shipment.updated'] })
  const shipment = await addShipment(b, {})
  await b.rest.patch(`/shipments?id=eq.${shipment.id}`, { carrier: 'Sea' })
  await inbox.untilReceived(1, 5_000)
  await untilDeliveries(b, configuration, ({ state }) => state === 'delivered')
  const scheduled = () => sql`select from graphile_worker.jobs where key = 'fire_webhooks'`
  expect(await scheduled()).toHaveLength(1)
  await sql`select graphile_worker.add_job('fire_webhooks', '{}', job_key => 'fire_webhooks')`
  await sql`select graphile_worker.add_job('fire_webhooks', '{}', job_key => 'fire_webhooks')`
  await sleep(200)
  expect(await scheduled()).toHaveLength(1)
})
