import { once } from 'node:events'
import type { AddressInfo, Socket } from 'node:net'
import { createServer as createRawServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { makeLog } from '../../stack/log.ts'
import { startWorker } from '../../worker/worker.ts'
import { quantitiesOf, succeeded, verify } from '../builders.ts'
import { startLading } from '../harness/lading.ts'
import { until } from '../harness/npm_start.ts'
import { activitiesOf, addNewFulfillment, addSendingStep, statusOf, untilStatus } from './sending.ts'
import { startToyWarehouse } from './toy_warehouse.ts'

const lading = await startLading()
const { a } = lading
const warehouse = await startToyWarehouse()
const worker = await startWorker({
  ownerUrl: lading.ownerUrl,
  concurrency: 4,
  allowPrivateAddresses: true,
  sendMilliseconds: 1_500,
  log: makeLog('silent', 'test'),
})
afterAll(async () => {
  await worker.stop()
  await warehouse.close()
})
beforeEach(() => {
  warehouse.received.length = 0
  warehouse.answer = (_request, response) => response.end('{}')
})

const failed = { title: '3PL Failure', operation: 'send_order', result: 'ERROR' }

/** Sends one order to an address and returns the activity that its failure leaves. */
const failTo = async (payloadUrl: string) => {
  const { locationId } = await addSendingStep(a, { payload_url: payloadUrl })
  const order = await addNewFulfillment(a, locationId)
  await untilStatus(a, order, undefined)
  expect(await quantitiesOf(a, order.item, locationId)).toMatchObject({ available_to_sell: 100, committed: 0 })
  const activities = await activitiesOf(a, order)
  expect(activities).toEqual([{ ...failed, description: expect.any(String) }])
  return activities[0]?.description ?? ''
}

const rawServer = async (onConnection: (socket: Socket) => void): Promise<{ url: string; close: () => void }> => {
  const sockets = new Set<Socket>()
  const server = createRawServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    onConnection(socket)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    close: () => {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}

test('200: the fulfillment is PENDING; one POST of JSON with its id as Idempotency-Key', async () => {
  const { locationId } = await addSendingStep(a, { payload_url: `${warehouse.url}/orders` })
  const order = await addNewFulfillment(a, locationId)
  await untilStatus(a, order, 'PENDING')
  expect(warehouse.received).toHaveLength(1)
  expect(warehouse.received[0]).toMatchObject({
    method: 'POST',
    url: '/orders',
    headers: { 'content-type': 'application/json', 'idempotency-key': order.fulfillmentId, 'user-agent': 'lading' },
  })
  expect(JSON.parse(warehouse.received[0]?.body ?? '')).toMatchObject({
    status: 'NEW',
    orderId: order.id,
    locationId,
    warehouseOrderId: order.fulfillmentId,
    warehouseCode: 'W1',
    warehouseCompany: 'Acme',
    warehouseName: 'West',
    warehouseId: '77',
    warehouseZipcode: '10115',
    lineItems: [{ sku: order.item.sku, quantity: 3 }],
  })
  expect(await quantitiesOf(a, order.item, locationId)).toMatchObject({ available_to_sell: 100, committed: 3 })
  expect(await activitiesOf(a, order)).toEqual([])
  expect(await lading.sql`select from internal.send_order_claims`).toHaveLength(0)
})

test('the authentication parameter is encoded and added to the query that is there', async () => {
  const { locationId } = await addSendingStep(a, {
    payload_url: `${warehouse.url}/in?tenant=7&x=%20y#part`,
    auth_query_field: 'api key',
    auth_query_value: 'a&b=c+d/é',
  })
  await untilStatus(a, await addNewFulfillment(a, locationId), 'PENDING')
  expect(warehouse.received[0]?.url).toBe('/in?tenant=7&x=%20y&api%20key=a%26b%3Dc%2Bd%2F%C3%A9')
  expect(new URL(warehouse.received[0]?.url ?? '', warehouse.url).searchParams.get('api key')).toBe('a&b=c+d/é')
})

test('webhookUrl of the location is used instead, without the authentication parameter', async () => {
  const { locationId } = await addSendingStep(
    a,
    { payload_url: `${warehouse.url}/general`, auth_query_field: 'token', auth_query_value: 'secret' },
    { webhookUrl: `${warehouse.url}/own?a=b` },
  )
  await untilStatus(a, await addNewFulfillment(a, locationId), 'PENDING')
  expect(warehouse.received.map(({ url }) => url)).toEqual(['/own?a=b'])
  expect(JSON.stringify(warehouse.received)).not.toContain('secret')
})

test('302 counts as success and is not followed, wherever it leads', async () => {
  warehouse.answer = (request, response) => {
    if (request.url === '/failing') response.writeHead(500).end()
    else response.writeHead(302, { Location: `${warehouse.url}/failing` }).end()
  }
  const { locationId } = await addSendingStep(a, { payload_url: `${warehouse.url}/moved` })
  await untilStatus(a, await addNewFulfillment(a, locationId), 'PENDING')
  expect(warehouse.received.map(({ url }) => url)).toEqual(['/moved'])
})

test('500 boom: removed, commitment released, activity with status and body', async () => {
  warehouse.answer = (_request, response) => response.writeHead(500).end('boom')
  expect(await failTo(warehouse.url)).toBe('HTTP status: 500\nResponse: boom')
  expect(warehouse.received).toHaveLength(1)
})

test('a long body is cut at 4 kB, at a whole character; NUL becomes a sign that can be stored', async () => {
  warehouse.answer = (_request, response) => response.writeHead(503).end(`bo\0om é${'é'.repeat(1_000_000)}`)
  const description = await failTo(warehouse.url)
  expect(description).toMatch(/^HTTP status: 503\nResponse: bo\ufffdom éé+$/)
  expect(Buffer.byteLength(description)).toBeLessThan(4_096 + 100)
  expect(Buffer.byteLength(description)).toBeGreaterThan(4_096 - 10)
})

test('a success with an endless body is a success', async () => {
  warehouse.answer = (_request, response) => {
    response.writeHead(201)
    const write = () => {
      while (!response.destroyed && response.write('x'.repeat(10_000))) undefined
      if (!response.destroyed) response.once('drain', write)
    }
    write()
  }
  const { locationId } = await addSendingStep(a, { payload_url: warehouse.url })
  await untilStatus(a, await addNewFulfillment(a, locationId), 'PENDING')
})

test('network errors are told in words', async () => {
  const closed = await rawServer(() => undefined)
  closed.close()
  expect(await failTo(closed.url)).toBe('Network error: the connection was refused (ECONNREFUSED)')

  const resetting = await rawServer((socket) => socket.once('data', () => socket.resetAndDestroy()))
  expect(await failTo(resetting.url)).toBe('Network error: the connection was reset (ECONNRESET)')
  resetting.close()

  const closing = await rawServer((socket) => socket.once('data', () => socket.end()))
  expect(await failTo(closing.url)).toMatch('Network error: the connection was closed before the answer was complete')
  closing.close()

  const garbled = await rawServer((socket) => socket.once('data', () => socket.end('what is this?\r\n\r\n')))
  expect(await failTo(garbled.url)).toBe('Network error: the answer is not HTTP')
  garbled.close()

  expect(await failTo('http://no-such-host.invalid/')).toMatch('Network error: the host name ')
  expect(await failTo('http://[zz]/')).toMatch('Network error: Invalid URL')
  expect(await failTo(warehouse.url.replace('http', 'https'))).toMatch('Network error: ')
})

test('an answer that breaks off tells both the status and the network error', async () => {
  const breaking = await rawServer((socket) =>
    socket.once('data', () => {
      socket.write('HTTP/1.1 500 Oops\r\nContent-Length: 100\r\n\r\npart')
      setTimeout(() => socket.destroy(), 50)
    }),
  )
  expect(await failTo(breaking.url)).toMatch(/^Network error: .*\nHTTP status: 500\nResponse: part$/)
  breaking.close()
})

test('a warehouse that does not answer in time, or only in part', async () => {
  warehouse.answer = () => undefined
  expect(await failTo(warehouse.url)).toBe('Network error: no complete answer within 1.5 s')
  warehouse.answer = (_request, response) => {
    response.writeHead(500).write('slow')
  }
  expect(await failTo(warehouse.url)).toBe(
    'Network error: no complete answer within 1.5 s\nHTTP status: 500\nResponse: slow',
  )
})

test('a kept connection that its other side closes just then is no failure', async () => {
  let connections = 0
  const capricious = await rawServer((socket) => {
    connections += 1
    let requests = 0
    socket.on('data', (chunk) => {
      if (!chunk.includes('POST')) return
      requests += 1
      if (requests === 1) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n')
      else socket.resetAndDestroy()
    })
  })
  const { locationId } = await addSendingStep(a, { payload_url: capricious.url })
  for (let count = 0; count < 3; count += 1) {
    await untilStatus(a, await addNewFulfillment(a, locationId), 'PENDING')
  }
  expect(connections).toBeGreaterThan(1)
  capricious.close()
})

test('a fulfillment made by plain inserts is sent once it has lines', async () => {
  const { locationId } = await addSendingStep(a, { payload_url: warehouse.url })
  const order = await addNewFulfillment(a, locationId)
  await untilStatus(a, order, 'PENDING')
  const [line] = succeeded(
    await a.rest.post<{ id: string }[]>(
      '/order_line_items',
      { business_id: a.id, order_id: order.id, inventory_item_id: order.item.id, quantity: 5 },
      { Prefer: 'return=representation' },
    ),
  )
  const [plain] = succeeded(
    await a.rest.post<{ id: string }[]>(
      '/fulfillments',
      { business_id: a.id, order_id: order.id, location_id: locationId },
      { Prefer: 'return=representation' },
    ),
  )
  const second = { ...order, fulfillmentId: plain?.id ?? '' }
  await sleep(200)
  expect(warehouse.received).toHaveLength(1)
  succeeded(
    await a.rest.post('/fulfillment_line_items', {
      business_id: a.id,
      fulfillment_id: second.fulfillmentId,
      order_line_item_id: line?.id,
      inventory_item_id: order.item.id,
      quantity: 5,
    }),
  )
  await untilStatus(a, second, 'PENDING')
  expect(warehouse.received).toHaveLength(2)
})

test('not sent: another location, a step that is off, one that is not NEW any more', async () => {
  const { id: stepId, locationId } = await addSendingStep(a, { payload_url: warehouse.url, is_enabled: false })
  const order = await addNewFulfillment(a, locationId)
  await sleep(300)
  expect([await statusOf(a, order), warehouse.received]).toEqual(['NEW', []])

  succeeded(await a.rest.patch(`/send_orders_steps?id=eq.${stepId}`, { is_enabled: true }))
  succeeded(await a.rest.patch(`/fulfillments?id=eq.${order.fulfillmentId}`, { status: 'CANCELED' }))
  await lading.sql`select internal.add_job('send_order', ${lading.sql.json({ fulfillment_id: order.fulfillmentId })})`
  await until(
    'the job is done',
    async () => (await lading.sql`select from graphile_worker.jobs where task_identifier = 'send_order'`).length === 0,
  )
  expect(warehouse.received).toEqual([])
})

test('the sweep sends what was NEW before its location was mapped', async () => {
  const { id: stepId, locationId } = await addSendingStep(a, { payload_url: warehouse.url, is_enabled: false })
  const order = await addNewFulfillment(a, locationId)
  succeeded(await a.rest.patch(`/send_orders_steps?id=eq.${stepId}`, { is_enabled: true }))
  await lading.sql`select internal.add_job('sweep_fulfillments', '{}')`
  await untilStatus(a, order, 'PENDING')
  expect(warehouse.received).toHaveLength(1)
})

test('two jobs for one fulfillment: one POST', async () => {
  warehouse.answer = (_request, response) => setTimeout(() => response.end(), 300)
  const { locationId } = await addSendingStep(a, { payload_url: warehouse.url })
  const order = await addNewFulfillment(a, locationId)
  for (let count = 0; count < 5; count += 1) {
    await lading.sql`select internal.add_job('send_order', ${lading.sql.json({ fulfillment_id: order.fulfillmentId })})`
  }
  await untilStatus(a, order, 'PENDING')
  await until(
    'the jobs are done',
    async () => (await lading.sql`select from graphile_worker.jobs where task_identifier = 'send_order'`).length === 0,
  )
  expect(warehouse.received).toHaveLength(1)
})

test('ledger and quantities agree', async () => {
  expect(await verify(a)).toEqual([])
})
