import { afterAll, expect, test } from 'vitest'
import { makeLog } from '../../stack/log.ts'
import { startWorker } from '../../worker/worker.ts'
import { quantitiesOf, stock, succeeded } from '../builders.ts'
import { startLading } from '../harness/lading.ts'
import { until } from '../harness/npm_start.ts'
import {
  addCallbackStep,
  addPendingOrder,
  makeCallbackClient,
  shipped,
  type WarehouseOrder,
} from '../sidecar/warehouse.ts'

const lading = await startLading()
const { a } = lading
const post = makeCallbackClient(lading, a)
const step = await addCallbackStep(a, { is_synchronous: false })
const worker = await startWorker({ ownerUrl: lading.ownerUrl, concurrency: 2, log: makeLog('silent', 'test') })
afterAll(() => worker.stop())

const untilApplied = () =>
  until('the queue is empty', async () => {
    const [waiting] = await lading.sql<{ messages: number; jobs: number }[]>`
      select (select count(*) from internal.queued_callbacks)::integer as messages,
        (select count(*) from graphile_worker.jobs where task_identifier = 'apply_callback')::integer as jobs`
    return waiting?.messages === 0 && waiting.jobs === 0
  })

const statusOf = async (order: WarehouseOrder) =>
  succeeded(await a.rest.get<{ status: string }[]>(`/fulfillments?id=eq.${order.fulfillmentId}`))[0]?.status

test('a message to a step that is not synchronous is applied by the worker, once', async () => {
  const order = await addPendingOrder(a, step.locationId)
  await stock(a, order.item, step.locationId, 100)
  expect(await post(step.callbackUrl, shipped(order))).toMatchObject({ status: 202 })
  expect(await post(step.callbackUrl, shipped(order))).toMatchObject({ status: 202 })
  await untilApplied()
  expect(await statusOf(order)).toBe('OPEN')
  expect(await quantitiesOf(a, order.item, step.locationId)).toMatchObject({ available_to_sell: 90, committed: 0 })
})

test('one that is refused changes nothing and leaves its reason with the order', async () => {
  const order = await addPendingOrder(a, step.locationId)
  expect(await post(step.callbackUrl, shipped(order, 11))).toMatchObject({ status: 202 })
  await untilApplied()
  expect(await statusOf(order)).toBe('PENDING')
  expect(succeeded(await a.rest.get(`/order_activities?order_id=eq.${order.id}`))).toMatchObject([
    {
      title: 'Callback Refused',
      result: 'ERROR',
      description: `orderUpdate.fulfillments[0].lineItems[0].quantity: more than is pending of "${order.item.sku}"`,
    },
  ])
})

test('a job for a message that is not there any more ends quietly', async () => {
  await lading.sql`select internal.add_job('apply_callback', '{"id": "019a0000-0000-7000-8000-000000000000"}')`
  await untilApplied()
})
