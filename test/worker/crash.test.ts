import { once } from 'node:events'
import { afterAll, expect, test } from 'vitest'
import { quantitiesOf, verify } from '../builders.ts'
import { startLading } from '../harness/lading.ts'
import { until } from '../harness/npm_start.ts'
import { activitiesOf, addNewFulfillment, addSendingStep, statusOf, untilStatus } from './sending.ts'
import { startToyWarehouse } from './toy_warehouse.ts'
import { startWorkerProcess } from './worker_process.ts'

const lading = await startLading()
const { a } = lading
const warehouse = await startToyWarehouse()
afterAll(() => warehouse.close())

const expireClaims = () =>
  lading.sql`update internal.send_order_claims set lease_expires_time = now() - interval '1 second'`
const sweep = () => lading.sql`select internal.add_job('sweep_fulfillments', '{}')`

test('killed between claim and record: one more POST with the same key, one change of state', async () => {
  const { locationId } = await addSendingStep(a, { payload_url: warehouse.url })
  const order = await addNewFulfillment(a, locationId, 4)
  warehouse.answer = () => undefined
  const first = await startWorkerProcess(lading.ownerUrl)
  await until('the warehouse is asked', () => warehouse.received.length === 1)
  first.kill('SIGKILL')
  await once(first, 'exit')
  expect(await statusOf(a, order)).toBe('NEW')

  warehouse.answer = (_request, response) => response.end()
  const second = await startWorkerProcess(lading.ownerUrl)
  await sweep()
  await until('the sweep is done', async () => {
    const jobs = await lading.sql`select from graphile_worker.jobs where task_identifier = 'sweep_fulfillments'`
    return jobs.length === 0
  })
  expect(warehouse.received, 'a claim that has not run out is left alone').toHaveLength(1)

  await expireClaims()
  await sweep()
  await untilStatus(a, order, 'PENDING')
  expect(warehouse.received.map(({ headers }) => headers['idempotency-key'])).toEqual([
    order.fulfillmentId,
    order.fulfillmentId,
  ])
  expect(warehouse.received[0]?.body).toBe(warehouse.received[1]?.body)
  expect(await quantitiesOf(a, order.item, locationId)).toMatchObject({ available_to_sell: 100, committed: 4 })
  expect(await activitiesOf(a, order)).toEqual([])
  await expireClaims()
  await sweep()
  second.kill('SIGTERM')
  await once(second, 'exit')
  expect(warehouse.received).toHaveLength(2)
  expect(await verify(a)).toEqual([])
})

test('told to stop in the middle of a POST: not a failure of the warehouse, the order is sent again', async () => {
  const { locationId } = await addSendingStep(a, { payload_url: warehouse.url })
  warehouse.received.length = 0
  warehouse.answer = () => undefined
  const order = await addNewFulfillment(a, locationId)
  const first = await startWorkerProcess(lading.ownerUrl)
  await until('the warehouse is asked', () => warehouse.received.length === 1)
  first.kill('SIGTERM')
  await once(first, 'exit')
  expect(await statusOf(a, order)).toBe('NEW')
  expect(await activitiesOf(a, order)).toEqual([])

  warehouse.answer = (_request, response) => response.end()
  const second = await startWorkerProcess(lading.ownerUrl)
  await expireClaims()
  await sweep()
  await untilStatus(a, order, 'PENDING')
  expect(warehouse.received).toHaveLength(2)
  second.kill('SIGTERM')
  await once(second, 'exit')
})
