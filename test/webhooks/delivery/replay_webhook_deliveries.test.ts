import { afterAll, describe, expect, test } from 'vitest'
import { makeLog } from '../../../stack/log.ts'
import { startWorker } from '../../../worker/worker.ts'
import { add, addShipment, succeeded } from '../../builders.ts'
import { startLading } from '../../harness/lading.ts'
import { answering, startConsumer, verified } from '../consumer.ts'
import { addConfiguration, deliveriesOf, fire, secretsOf, untilDeliveries } from '../webhooks.ts'

const lading = await startLading()
const { a, b, sql } = lading
const consumer = await startConsumer()
const worker = await startWorker({
  ownerUrl: lading.ownerUrl,
  concurrency: 4,
  allowPrivateAddresses: true,
  fireSeconds: 3_600,
  log: makeLog('silent', 'test'),
})
afterAll(async () => {
  await worker.stop()
  await consumer.close()
})

const since = '2020-01-01'
const replayMany = (configuration: { id: string }, parameters: object = {}) =>
  a.rest.rpc<{ count: number; message?: string }>('replay_webhook_deliveries', {
    webhook_configuration_id: configuration.id,
    since,
    ...parameters,
  })
const count = async (...parameters: Parameters<typeof replayMany>) => succeeded(await replayMany(...parameters)).count

const isDelivered = ({ state }: { state: string }) => state === 'delivered'

/** A configuration whose deliveries of so many events have been made. */
const reached = async (events = 1) => {
  const inbox = consumer.addInbox()
  const configuration = await addConfiguration(a, { url: inbox.url, actions: ['shipment.created'] })
  for (let made = 0; made < events; made += 1) await addShipment(a, {})
  await fire(sql)
  await inbox.untilReceived(events)
  await untilDeliveries(a, configuration, isDelivered)
  return { inbox, configuration }
}

describe('one', () => {
  test('is delivered again, the same body and webhook-id, as a delivery of its own that names the first', async () => {
    const { inbox, configuration } = await reached()
    const [first] = await deliveriesOf(a, configuration)
    expect(succeeded(await a.rest.rpc('replay_webhook_delivery', { id: first?.id }))).toEqual({ count: 1 })
    const [sent, again] = await inbox.untilReceived(2)
    expect(again?.text).toBe(sent?.text)
    expect(again?.headers['webhook-id']).toBe(sent?.headers['webhook-id'])
    const deliveries = await untilDeliveries(a, configuration, isDelivered)
    expect(deliveries).toMatchObject([{ replay_of: null }, { replay_of: first?.id, event_id: first?.event_id }])
  })

  test('of another business is 404, as is one that there is not; a warehouse key 403', async () => {
    const { configuration } = await reached()
    const [delivery] = await deliveriesOf(a, configuration)
    expect(await b.rest.rpc('replay_webhook_delivery', { id: delivery?.id })).toMatchObject({
      status: 404,
      body: { message: `id: no webhook delivery "${delivery?.id}"` },
    })
    expect((await a.rest.rpc('replay_webhook_delivery', { id: crypto.randomUUID() })).status).toBe(404)
    expect((await lading.rest(a.warehouseKey).rpc('replay_webhook_delivery', { id: delivery?.id })).status).toBe(403)
    expect((await lading.operator.rpc('replay_webhook_delivery', { id: delivery?.id })).status).toBe(200)
  })

  test('of a configuration that is disabled is 409', async () => {
    const { configuration } = await reached()
    const [delivery] = await deliveriesOf(a, configuration)
    succeeded(await a.rest.patch(`/webhook_configurations?id=eq.${configuration.id}`, { is_enabled: false }))
    for (const answer of [
      await a.rest.rpc('replay_webhook_delivery', { id: delivery?.id }),
      await replayMany(configuration),
    ]) {
      expect(answer).toMatchObject({
        status: 409,
        body: { message: 'The webhook configuration is disabled: enable it first' },
      })
    }
  })
})

describe('several', () => {
  test('failed: events of which no delivery succeeded, once each; dry_run counts them and sends nothing', async () => {
    const { inbox, configuration } = await reached(3)
    const [lost, saved] = await deliveriesOf(a, configuration)
    await sql`update api.webhook_deliveries set state = 'failed' where id in ${sql([lost?.id ?? '', saved?.id ?? ''])}`
    succeeded(await a.rest.rpc('replay_webhook_delivery', { id: saved?.id }))
    await inbox.untilReceived(4)
    await untilDeliveries(a, configuration, ({ state }) => ['delivered', 'failed'].includes(state))
    expect(await count(configuration, { only: 'failed', dry_run: true })).toBe(1)
    expect(await count(configuration, { only: 'failed', dry_run: true, since: '2099-01-01' })).toBe(0)
    expect(await count(configuration, { only: 'failed', dry_run: true, until: since })).toBe(0)
    expect(inbox.received).toHaveLength(4)
    expect(await count(configuration, { only: 'failed' })).toBe(1)
    const received = await inbox.untilReceived(5)
    expect(received.at(-1)?.headers['webhook-id']).toBe(lost?.event_id)
    await untilDeliveries(a, configuration, ({ state }) => ['delivered', 'failed'].includes(state))
    expect(await count(configuration, { only: 'failed', dry_run: true })).toBe(0)
  })

  test('missing: events from before it was subscribed, with the sequence that others saw', async () => {
    await reached()
    const inbox = consumer.addInbox()
    const business = await lading.addBusiness('Late')
    const early = await addConfiguration(business, {
      url: inbox.url,
      actions: ['shipment.created', 'shipment.updated'],
    })
    const shipment = await addShipment(business, {})
    await business.rest.patch(`/shipments?id=eq.${shipment.id}`, { carrier: 'Sea' })
    await fire(sql)
    await inbox.untilReceived(2)
    const late = consumer.addInbox()
    const configuration = await addConfiguration(business, { url: late.url, actions: ['shipment.updated'] })
    const replay = (parameters: object) =>
      business.rest.rpc('replay_webhook_deliveries', {
        webhook_configuration_id: configuration.id,
        since,
        ...parameters,
      })
    expect(succeeded(await replay({ only: 'missing', dry_run: true }))).toEqual({ count: 1 })
    expect(late.received).toEqual([])
    expect(succeeded(await replay({ only: 'missing' }))).toEqual({ count: 1 })
    const [webhook] = await late.untilReceived(1)
    const [secret = ''] = await secretsOf(sql, configuration)
    expect(verified(webhook, secret)).toMatchObject({ type: 'shipment.updated', sequence: 2, data: { carrier: 'Sea' } })
    expect(webhook?.headers['webhook-id']).toBe(
      inbox.received.find(({ body }) => body.type === 'shipment.updated')?.headers['webhook-id'],
    )
    expect(succeeded(await replay({ only: 'missing', dry_run: true }))).toEqual({ count: 0 })
    expect(await deliveriesOf(business, early)).toHaveLength(2)
  })

  test('all: what was sent and what was not, each event once', async () => {
    const { inbox, configuration } = await reached(2)
    const [event] = await deliveriesOf(a, configuration)
    succeeded(await a.rest.rpc('replay_webhook_delivery', { id: event?.id }))
    await inbox.untilReceived(3)
    await untilDeliveries(a, configuration, isDelivered)
    const started = new Date(Date.now() - 60_000).toISOString()
    await sql`
      update api.shipment_webhooks set creation_time = now() - interval '1 year'
      where id not in (select event_id from api.webhook_deliveries where webhook_configuration_id = ${configuration.id})`
    expect(await count(configuration, { since: started })).toBe(2)
    await inbox.untilReceived(5)
    expect(new Set(inbox.received.map(({ headers }) => headers['webhook-id'])).size).toBe(2)
  })

  test('what is asked for must be known: 400; another business: 404; a warehouse key: 403', async () => {
    const { configuration } = await reached()
    for (const [parameters, message] of [
      [{ only: 'some' }, 'only: must be failed, missing or all'],
      [{ since: null }, 'since: is required'],
    ] as const) {
      expect(await replayMany(configuration, parameters)).toMatchObject({
        status: 400,
        body: { code: 'P0001', message },
      })
    }
    const body = { webhook_configuration_id: configuration.id, since }
    expect(await b.rest.rpc('replay_webhook_deliveries', body)).toMatchObject({
      status: 404,
      body: { message: `webhook_configuration_id: no webhook configuration "${configuration.id}"` },
    })
    expect((await lading.rest(a.warehouseKey).rpc('replay_webhook_deliveries', body)).status).toBe(403)
  })
})

describe('a test event', () => {
  test('carries the latest object of its kind and is marked; it is no part of a replay', async () => {
    const inbox = consumer.addInbox()
    const configuration = await addConfiguration(a, { url: inbox.url, actions: [] })
    const shipment = await addShipment(a, {})
    const send = (action: string) =>
      a.rest.rpc('send_test_webhook', { webhook_configuration_id: configuration.id, action })
    expect(succeeded(await send('shipment.deleted'))).toEqual({ count: 1 })
    const [webhook] = await inbox.untilReceived(1)
    const [secret = ''] = await secretsOf(sql, configuration)
    expect(verified(webhook, secret)).toMatchObject({
      type: 'shipment.deleted',
      sequence: 0,
      data: { id: shipment.id },
    })
    succeeded(await send('shipment_receipt.completed'))
    await inbox.untilReceived(2)
    const deliveries = await untilDeliveries(a, configuration, isDelivered)
    expect(deliveries).toMatchObject([{ is_test: true }, { is_test: true }])
    expect(await count(configuration, { dry_run: true })).toBe(0)
  })

  test('unknown actions are 400, configurations of others 404, disabled ones 409, warehouse keys 403', async () => {
    const configuration = await addConfiguration(a, { actions: [], is_enabled: false })
    const send = (action: string, rest = a.rest) =>
      rest.rpc('send_test_webhook', { webhook_configuration_id: configuration.id, action })
    expect(await send('shipment.sunk')).toMatchObject({
      status: 400,
      body: { message: 'action: no webhook action "shipment.sunk"' },
    })
    expect((await send('shipment.created')).status).toBe(409)
    expect((await send('shipment.created', b.rest)).status).toBe(404)
    expect((await send('shipment.created', lading.rest(a.warehouseKey))).status).toBe(403)
  })
})

test('an event that could not be delivered while the configuration was disabled is replayed as failed', async () => {
  await fire(sql)
  const inbox = consumer.addInbox(answering(500))
  const configuration = await addConfiguration(a, { url: inbox.url, actions: ['shipment.created'] })
  await addShipment(a, {})
  await fire(sql)
  await inbox.untilReceived(1)
  await untilDeliveries(a, configuration, ({ state, attempt_count }) => state === 'pending' && attempt_count === 1)
  const path = `/webhook_configurations?id=eq.${configuration.id}`
  succeeded(await a.rest.patch(path, { is_enabled: false }))
  succeeded(await a.rest.patch(path, { is_enabled: true }))
  inbox.answer = answering(200)
  expect(await count(configuration, { only: 'failed' })).toBe(1)
  await inbox.untilReceived(2)
})

test('an event row that nobody was subscribed to when a client wrote it is missing later', async () => {
  const business = await lading.addBusiness('Nobody')
  const shipment = await addShipment(business, {})
  await add(business, 'shipment_webhooks', { shipment_id: shipment.id, action: 'shipment.updated' })
  await fire(sql)
  const inbox = consumer.addInbox()
  const configuration = await addConfiguration(business, { url: inbox.url, actions: ['shipment.updated'] })
  succeeded(
    await business.rest.rpc('replay_webhook_deliveries', {
      webhook_configuration_id: configuration.id,
      since,
      only: 'missing',
    }),
  )
  expect((await inbox.untilReceived(1))[0]?.body).toMatchObject({ sequence: 1, data: { id: shipment.id } })
})
