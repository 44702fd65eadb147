import { afterAll, beforeEach, expect, test } from 'vitest'
import { makeLog } from '../../stack/log.ts'
import { CANCEL_ATTEMPTS } from '../../worker/tasks/cancel_order.ts'
import { startWorker } from '../../worker/worker.ts'
import { succeeded } from '../builders.ts'
import { startLading } from '../harness/lading.ts'
import { until } from '../harness/npm_start.ts'
import { activitiesOf, addNewFulfillment, addSendingStep, type NewOrder, untilStatus } from './sending.ts'
import { startToyWarehouse } from './toy_warehouse.ts'

const lading = await startLading()
const { a } = lading
const warehouse = await startToyWarehouse()
const worker = await startWorker({
  ownerUrl: lading.ownerUrl,
  concurrency: 2,
  allowPrivateAddresses: true,
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

const addPending = async (entry: object): Promise<NewOrder> => {
  const { locationId } = await addSendingStep(a, { payload_url: `${warehouse.url}/orders` }, entry)
  const order = await addNewFulfillment(a, locationId)
  await untilStatus(a, order, 'PENDING')
  warehouse.received.length = 0
  return order
}

const cancel = async (order: NewOrder) =>
  succeeded(await a.rest.patch(`/fulfillments?id=eq.${order.fulfillmentId}`, { status: 'CANCELED' }))

const jobs = () => lading.sql<{ attempts: number }[]>`
  select attempts from graphile_worker.jobs where task_identifier = 'cancel_order' and locked_at is null`

const untilActivity = (order: NewOrder) =>
  until('the outcome is written', async () => (await activitiesOf(a, order)).length > 0)

test('a PENDING fulfillment that is canceled here is made known at the cancelEndpoint', async () => {
  const order = await addPending({ cancelEndpoint: `${warehouse.url}/cancel?a=b` })
  succeeded(await a.rest.patch(`/orders?id=eq.${order.id}`, { canceled_reason: 'changed my mind' }))
  await cancel(order)
  await untilActivity(order)
  expect(warehouse.received).toHaveLength(1)
  expect(warehouse.received[0]).toMatchObject({ method: 'POST', url: '/cancel?a=b' })
  expect(JSON.parse(warehouse.received[0]?.body ?? '')).toEqual({
    warehouseOrderId: order.fulfillmentId,
    fulfillmentId: order.fulfillmentId,
    reason: 'changed my mind',
  })
  expect(await activitiesOf(a, order)).toEqual([
    {
      title: 'Cancellation Sent',
      operation: 'cancel_order',
      result: 'SUCCESS',
      description: expect.stringContaining('200'),
    },
  ])
})

test('without a cancelEndpoint nothing is posted', async () => {
  const order = await addPending({})
  await cancel(order)
  expect(await jobs()).toEqual([])
  expect(warehouse.received).toEqual([])
})

test('it is retried, and its failure written once the attempts are used up', async () => {
  const order = await addPending({ cancelEndpoint: `${warehouse.url}/cancel` })
  warehouse.answer = (_request, response) => response.writeHead(500).end('boom')
  await cancel(order)
  for (let attempt = 1; attempt < CANCEL_ATTEMPTS; attempt += 1) {
    await until(`attempt ${attempt}`, async () => (await jobs())[0]?.attempts === attempt)
    expect(await activitiesOf(a, order)).toEqual([])
    await lading.sql`select graphile_worker.reschedule_jobs(array(select id from graphile_worker.jobs), run_at => now())`
  }
  await untilActivity(order)
  expect(await activitiesOf(a, order)).toEqual([
    {
      title: 'Cancellation Failed',
      operation: 'cancel_order',
      result: 'ERROR',
      description: 'HTTP status: 500\nResponse: boom',
    },
  ])
  expect(warehouse.received).toHaveLength(CANCEL_ATTEMPTS)
  expect(new Set(warehouse.received.map(({ headers }) => headers['idempotency-key'])).size).toBe(1)
  await until('the job is done', async () => (await jobs()).length === 0)
})

test('a retry that succeeds is a success', async () => {
  const order = await addPending({ cancelEndpoint: `${warehouse.url}/cancel` })
  warehouse.answer = (_request, response) => response.destroy()
  await cancel(order)
  await until('the first attempt', async () => (await jobs())[0]?.attempts === 1)
  warehouse.answer = (_request, response) => response.writeHead(202).end()
  await lading.sql`select graphile_worker.reschedule_jobs(array(select id from graphile_worker.jobs), run_at => now())`
  await untilActivity(order)
  expect(await activitiesOf(a, order)).toMatchObject([{ title: 'Cancellation Sent', result: 'SUCCESS' }])
})
