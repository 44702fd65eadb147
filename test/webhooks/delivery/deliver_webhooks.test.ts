import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { afterAll, describe, expect, test } from 'vitest'
import { makeLog } from '../../../stack/log.ts'
import { startWorker } from '../../../worker/worker.ts'
import { addItem, addShipment, patchShipment, succeeded } from '../../builders.ts'
import { startLading } from '../../harness/lading.ts'
import { type Answer, answering, startConsumer, verified } from '../consumer.ts'
import {
  addConfiguration,
  attemptsOf,
  configurationOf,
  deliveriesOf,
  eventsOf,
  fire,
  secretsOf,
  untilAttempted,
  untilDeliveries,
} from '../webhooks.ts'

const lading = await startLading()
const { a, sql } = lading
const consumer = await startConsumer()
const worker = await startWorker({
  ownerUrl: lading.ownerUrl,
  concurrency: 4,
  allowPrivateAddresses: true,
  deliverMilliseconds: 1_000,
  fireSeconds: 3_600,
  log: makeLog('silent', 'test'),
})
afterAll(async () => {
  await worker.stop()
  await consumer.close()
})

const created = ['shipment.created']

/** Lets one delivery be attempted at an address and returns it with its attempt. */
const attemptAt = async (url: string) => {
  const configuration = await addConfiguration(a, { url, actions: created })
  await addShipment(a, {})
  await fire(sql)
  const delivery = await untilAttempted(a, configuration)
  succeeded(await a.rest.patch(`/webhook_configurations?id=eq.${configuration.id}`, { is_enabled: false }))
  const [attempt] = await attemptsOf(a, delivery)
  return { configuration, delivery, attempt }
}

const attemptAnswered = (answer: Answer) => attemptAt(consumer.addInbox(answer).url)

const rawServer = async (onConnection: (socket: Socket) => void): Promise<{ url: string; close: () => void }> => {
  const server = createServer((socket) => {
    socket.on('error', () => undefined)
    onConnection(socket)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    close: () => server.close(),
  }
}

const soonAgain = { state: 'pending', attempt_count: 1, ended_time: null }

describe('a shipment is created and its status changes', () => {
  test('both events arrive signed, in the order of their sequence; event, delivery and attempt tell of it', async () => {
    const inbox = consumer.addInbox()
    const configuration = await addConfiguration(a, {
      url: inbox.url,
      actions: ['shipment.created', 'shipment.updated.status'],
    })
    const item = await addItem(a)
    const shipment = await addShipment(a, { lines: [{ item, quantity: 3 }] })
    await fire(sql)
    await inbox.untilReceived(1)
    succeeded(await patchShipment(a, shipment, { status: 'closed' }))
    await fire(sql)
    const received = await inbox.untilReceived(2)

    const [secret = ''] = await secretsOf(sql, configuration)
    const events = await eventsOf(a, shipment)
    expect(events.map(({ action, status }) => [action, status])).toEqual([
      ['shipment.created', 'sent'],
      ['shipment.updated.status', 'sent'],
    ])
    for (const [index, webhook] of received.entries()) {
      expect(verified(webhook, secret)).toEqual(webhook.body)
      expect(Object.keys(webhook.body).sort()).toEqual(['business_id', 'data', 'id', 'sequence', 'timestamp', 'type'])
      expect(webhook.body).toMatchObject({
        id: events[index]?.id,
        type: events[index]?.action,
        business_id: a.id,
        sequence: index + 1,
        data: {
          id: shipment.id,
          business_id: a.id,
          shipment_number: shipment.shipment_number,
          status: ['unshipped', 'closed'][index],
          items: [{ inventory_item_id: item.id, sku: item.sku, quantity: 3 }],
          packages: [],
        },
      })
      expect(new Date(webhook.body.timestamp).getTime()).toBeGreaterThan(Date.now() - 60_000)
      expect(webhook.headers).toMatchObject({
        'content-type': 'application/json',
        'user-agent': 'lading',
        'webhook-id': events[index]?.id,
      })
      expect(webhook.headers).not.toHaveProperty('webhook-consumer-url')
    }

    const deliveries = await untilDeliveries(a, configuration, ({ state }) => state === 'delivered')
    expect(deliveries).toMatchObject(
      events.map(({ id, action }) => ({ event_id: id, action, attempt_count: 1, response_status: 204, error: null })),
    )
    expect(deliveries[0]?.payload).toEqual(received[0]?.body)
    const [first] = deliveries
    expect(await attemptsOf(a, first ?? { id: '' })).toMatchObject([
      {
        attempt_number: 1,
        request_url: inbox.url,
        request_headers: { 'webhook-id': events[0]?.id, 'webhook-signature': 'v1,***' },
        response_status: 204,
        error: null,
      },
    ])
    expect(JSON.stringify(await attemptsOf(a, first ?? { id: '' }))).not.toContain(
      String(received[0]?.headers['webhook-signature']).slice('v1,'.length),
    )
  })
})

describe('signatures', () => {
  test('after a rotation both secrets sign until the former expires', async () => {
    const inbox = consumer.addInbox()
    const configuration = await addConfiguration(a, { url: inbox.url, actions: created })
    const [former = ''] = await secretsOf(sql, configuration)
    const { secret: current } = succeeded(
      await a.rest.rpc<{ secret: string }>('rotate_webhook_secret', { webhook_configuration_id: configuration.id }),
    )
    await addShipment(a, {})
    await fire(sql)
    const [first] = await inbox.untilReceived(1)
    expect(verified(first, former)).toEqual(verified(first, current))
    expect(String(first?.headers['webhook-signature']).split(' ')).toHaveLength(2)

    await sql`
      update internal.webhook_secrets set expires_time = now() - interval '1 s'
      where webhook_configuration_id = ${configuration.id} and expires_time is not null`
    await addShipment(a, {})
    await fire(sql)
    const [, second] = await inbox.untilReceived(2)
    expect(verified(second, current)).toMatchObject({ type: 'shipment.created' })
    expect(() => verified(second, former)).toThrow('No matching signature')
  })
})

describe('an attempt fails and the delivery waits for its next', () => {
  test('500, then 200: the same body and webhook-id, both attempts kept', async () => {
    const inbox = consumer.addInbox((_webhook, response) =>
      response.writeHead(inbox.received.length === 1 ? 500 : 200, { 'X-Try': 'yes' }).end('hm'),
    )
    const configuration = await addConfiguration(a, { url: inbox.url, actions: created })
    await addShipment(a, {})
    await fire(sql)
    const failed = await untilAttempted(a, configuration)
    expect(failed).toMatchObject({ ...soonAgain, response_status: 500, error: 'Answered 500' })
    await sql`update api.webhook_deliveries set next_attempt_time = now() where id = ${failed.id}`
    await sql`select internal.queue_due_deliveries()`
    const [first, second] = await inbox.untilReceived(2)
    expect(second?.text).toBe(first?.text)
    expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id'])
    await untilDeliveries(a, configuration, ({ state }) => state === 'delivered')
    expect(await attemptsOf(a, failed)).toMatchObject([
      { attempt_number: 1, response_status: 500, error: 'Answered 500', response_body: 'hm' },
      { attempt_number: 2, response_status: 200, error: null, response_headers: { 'x-try': 'yes' } },
    ])
  })

  test('the retry comes by itself, after some seconds', async () => {
    const inbox = consumer.addInbox((_webhook, response) =>
      response.writeHead(inbox.received.length === 1 ? 500 : 200).end(),
    )
    const configuration = await addConfiguration(a, { url: inbox.url, actions: created })
    await addShipment(a, {})
    await fire(sql)
    const begun = performance.now()
    await inbox.untilReceived(2, 12_000)
    expect(performance.now() - begun).toBeGreaterThan(3_500)
    await untilDeliveries(a, configuration, ({ state }) => state === 'delivered')
  })

  test('a consumer that hangs', async () => {
    const { delivery, attempt } = await attemptAnswered(() => undefined)
    expect(delivery).toMatchObject({ ...soonAgain, response_status: null, error: 'No complete answer within 1 s' })
    expect(attempt).toMatchObject({ response_status: null, response_headers: null, response_body: null })
    expect(attempt?.duration_ms).toBeGreaterThan(950)
    expect(attempt?.duration_ms).toBeLessThan(2_500)
  })

  test('one that resets the connection, and one that is not there', async () => {
    const resetting = await rawServer((socket) => socket.once('data', () => socket.resetAndDestroy()))
    expect((await attemptAt(resetting.url)).delivery).toMatchObject({
      ...soonAgain,
      error: 'The connection was reset (ECONNRESET)',
    })
    resetting.close()
    expect((await attemptAt(resetting.url)).delivery).toMatchObject({
      ...soonAgain,
      error: 'The connection was refused (ECONNREFUSED)',
    })
  })

  test('one that answers drip by drip', async () => {
    let drips: NodeJS.Timeout | undefined
    const { delivery, attempt } = await attemptAnswered((_webhook, response) => {
      response.writeHead(500)
      drips = setInterval(() => response.write('x'), 50)
      response.on('close', () => clearInterval(drips))
    })
    expect(delivery).toMatchObject({ ...soonAgain, error: 'Answered 500; No complete answer within 1 s' })
    expect(attempt?.response_body).toMatch(/^x{5,30}$/)
  })

  test('302 to an internal address is a failure, and not followed', async () => {
    const inside = consumer.addInbox()
    const { delivery } = await attemptAnswered(answering(302, { Location: inside.url }))
    expect(delivery).toMatchObject({ ...soonAgain, error: 'Answered 302, redirects are not followed' })
    expect(inside.received).toEqual([])
  })

  test('Retry-After in seconds or as a date is honoured where it is later than the schedule', async () => {
    const wait = async (value: string) => {
      const { delivery } = await attemptAnswered((webhook, response) =>
        answering(503, { 'Retry-After': value })(webhook, response),
      )
      const [row] = await sql<{ seconds: number }[]>`
        select extract(epoch from d.ended_time - d.event_time)::float as seconds from api.webhook_deliveries d where d.id = ${delivery.id}`
      return { due: new Date(delivery.next_attempt_time ?? 0).getTime() - Date.now(), row }
    }
    expect((await wait('120')).due).toBeGreaterThan(110_000)
    expect((await wait(new Date(Date.now() + 3_600_000).toUTCString())).due).toBeGreaterThan(3_500_000)
    expect((await wait('1')).due).toBeGreaterThan(1_500)
    expect((await wait('soon')).due).toBeLessThan(7_000)
    expect((await wait('999999999')).due).toBeLessThan(86_500_000)
  })
})

describe('what is kept of an answer', () => {
  test('10 MB: the first 16 kB, and the rest is not waited for', async () => {
    const { delivery, attempt } = await attemptAnswered((_webhook, response) => {
      response.writeHead(200).end('x'.repeat(10_000_000))
    })
    expect(delivery).toMatchObject({ state: 'delivered', error: null })
    expect(attempt?.response_body).toBe('x'.repeat(16_384))
  })

  test('bytes that are no text, and NUL, can be stored', async () => {
    const { delivery, attempt } = await attemptAnswered((_webhook, response) => {
      response.writeHead(500).end(Buffer.concat([Buffer.from('a\0b'), Buffer.alloc(16_000, 0xff)]))
    })
    expect(delivery).toMatchObject({ ...soonAgain, error: 'Answered 500' })
    expect(attempt?.response_body).toMatch(/^a\ufffdb\ufffd+$/)
    expect(Buffer.byteLength(attempt?.response_body ?? '')).toBeLessThanOrEqual(16_384)
    expect(Buffer.byteLength(attempt?.response_body ?? '')).toBeGreaterThan(16_380)
  })
})

test('410 disables the configuration and cancels what waits for it', async () => {
  const inbox = consumer.addInbox((webhook, response) =>
    answering(webhook.body.type === 'shipment.created' ? 410 : 500)(webhook, response),
  )
  const configuration = await addConfiguration(a, {
    url: inbox.url,
    actions: ['shipment.created', 'shipment.updated'],
  })
  const shipment = await addShipment(a, {})
  await sql`
    insert into api.webhook_deliveries (business_id, webhook_configuration_id, event_id, action, object_id, sequence, event_time, payload, payload_bytes, next_attempt_time)
    values (${a.id}, ${configuration.id}, uuidv7(), 'shipment.updated', ${shipment.id}, 9, now(), '{}', 2, now() + interval '1 h')`
  await fire(sql)
  const deliveries = await untilDeliveries(a, configuration, ({ state }) => state === 'failed' || state === 'canceled')
  expect(deliveries.map(({ state }) => state).sort()).toEqual(['canceled', 'failed'])
  expect(await configurationOf(a, configuration.id)).toMatchObject({
    is_enabled: false,
    disabled_reason: 'The consumer answered 410 Gone',
    disabled_time: expect.any(String),
  })
  expect(inbox.received).toHaveLength(1)
})

describe('size and producer', () => {
  const withNotes = async (size: number, url: string, producer_url?: string) => {
    const configuration = await addConfiguration(a, {
      url,
      actions: created,
      ...(producer_url === undefined ? {} : { producer_url }),
    })
    const note = (length: number) => ({ additional_fields: { note: 'n'.repeat(length) } })
    const small = succeeded(
      await a.rest.post<{ id: string }[]>(
        '/shipments',
        { business_id: a.id, shipment_number: `big-${configuration.id}`, ...note(0) },
        { Prefer: 'return=representation' },
      ),
    )[0]
    const [measured] = await sql<{ bytes: number }[]>`
      select octet_length(internal.event_payload(
        id, 'shipment.created', (select creation_time from api.shipment_webhooks where shipment_id = d.id), ${a.id}, 1, d.document
      )::text) as bytes
      from internal.shipments_in_full(array[${small?.id ?? ''}]::uuid[]) d`
    succeeded(await a.rest.patch(`/shipments?id=eq.${small?.id}`, note(size - (measured?.bytes ?? 0))))
    await fire(sql)
    const [delivery] = await untilDeliveries(a, configuration, ({ state }) => state === 'delivered')
    return { configuration, delivery }
  }

  test('up to 300,000 bytes another producer is sent the event, signed, and told the consumer', async () => {
    const [relay, direct] = [consumer.addInbox(), consumer.addInbox()]
    const { configuration, delivery } = await withNotes(299_000, direct.url, relay.url)
    expect(direct.received).toEqual([])
    expect(relay.received[0]?.headers['webhook-consumer-url']).toBe(direct.url)
    const [secret = ''] = await secretsOf(sql, configuration)
    expect(verified(relay.received[0], secret)).toEqual(delivery?.payload)
    expect(delivery?.payload_bytes).toBe(relay.received[0]?.text.length)
  })

  test('above, the consumer itself is sent it, and the body is not kept', async () => {
    const [relay, direct] = [consumer.addInbox(), consumer.addInbox()]
    const { configuration, delivery } = await withNotes(301_000, direct.url, relay.url)
    expect(relay.received).toEqual([])
    expect(direct.received[0]?.headers).not.toHaveProperty('webhook-consumer-url')
    const [secret = ''] = await secretsOf(sql, configuration)
    expect(verified(direct.received[0], secret)).toMatchObject({ type: 'shipment.created' })
    expect(direct.received[0]?.text.length).toBeGreaterThan(300_000)
    expect(delivery).toMatchObject({ payload: null, payload_bytes: direct.received[0]?.text.length })
  })

  test('our own delivery sends either to the consumer', async () => {
    for (const size of [299_000, 301_000]) {
      const direct = consumer.addInbox()
      const { delivery } = await withNotes(size, direct.url)
      expect(direct.received).toHaveLength(1)
      expect(delivery?.payload === null).toBe(size > 300_000)
    }
  })
})

test('a configuration that is not enabled is not delivered to, by a job that is late either', async () => {
  const inbox = consumer.addInbox()
  const configuration = await addConfiguration(a, { url: inbox.url, actions: created })
  await addShipment(a, {})
  succeeded(await a.rest.patch(`/webhook_configurations?id=eq.${configuration.id}`, { is_enabled: false }))
  await fire(sql)
  await sql`select internal.queue_deliveries(array[${configuration.id}]::uuid[])`
  const other = consumer.addInbox()
  await addConfiguration(a, { url: other.url, actions: created })
  await addShipment(a, {})
  await fire(sql)
  await other.untilReceived(1)
  expect(await deliveriesOf(a, configuration)).toEqual([])
  expect(inbox.received).toEqual([])
})
