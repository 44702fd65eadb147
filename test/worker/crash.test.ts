import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { afterAll, expect, test } from 'vitest'
import { freeJobsOfDeadWorkers } from '../../worker/presence.ts'
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

test('what a killed worker had taken is freed, what a running one does is not', async () => {
  const { locationId } = await addSendingStep(a, { payload_url: warehouse.url })
  warehouse.received.length = 0
  warehouse.answer = () => undefined
  const sendThree = async (worker: Promise<ChildProcess>) => {
    const expected = warehouse.received.length + 3
    for (let count = 0; count < 3; count += 1) await addNewFulfillment(a, locationId)
    await worker
    await until('three are being sent', () => warehouse.received.length === expected)
    await until('nothing else is being done', async () => {
      const others = await lading.sql`
        select from graphile_worker.jobs
        where task_identifier <> 'send_order' and locked_at > now() - interval '1 minute'`
      return others.length === 0
    })
    return worker
  }
  const expireLocks = () => lading.sql`
    update graphile_worker._private_jobs set locked_at = locked_at - interval '2 minutes' where locked_at is not null`
  await expireLocks()
  await freeJobsOfDeadWorkers(lading.sql)

  const killed = await sendThree(startWorkerProcess(lading.ownerUrl))
  killed.kill('SIGKILL')
  await once(killed, 'exit')
  expect(await freeJobsOfDeadWorkers(lading.sql), 'not within the first minute').toBe(0)

  const running = await sendThree(startWorkerProcess(lading.ownerUrl))
  await expireLocks()
  expect(await freeJobsOfDeadWorkers(lading.sql)).toBe(3)
  expect(await freeJobsOfDeadWorkers(lading.sql)).toBe(0)
  running.kill('SIGKILL')
  await once(running, 'exit')
  await expireLocks()
  expect(await freeJobsOfDeadWorkers(lading.sql)).toBe(3)
})
