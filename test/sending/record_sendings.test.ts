import { beforeEach, describe, expect, test } from 'vitest'
import { succeeded, verify } from '../builders.ts'
import { activitiesOf, deleteFulfillment, patchFulfillment, statesOf, stockOf } from '../fulfillment/scenario.ts'
import { startLading } from '../harness/lading.ts'
import { addSending, claim, fulfill, record, type Sending } from './sending_builders.ts'

const lading = await startLading()
const { a, sql } = lading

let given: Sending
let fulfillment: { id: string }
let token: number
beforeEach(async () => {
  given = await addSending(lading)
  fulfillment = await fulfill(lading, given)
  token = (await claim(lading, fulfillment))?.token ?? 0
})
const now = async () => [await statesOf(a, given.order), await stockOf(a, given.item, given.location)]
const claims = () => sql`select from internal.send_order_claims where fulfillment_id = ${fulfillment.id}`

describe('accepted', () => {
  for (const status of [200, 201, 204, 302, 399]) {
    test(`${status}: PENDING, 100/10 stays`, async () => {
      expect(await now()).toEqual([['NEW 10'], '100/10'])
      expect(await record(lading, fulfillment, token, { status, body: 'thanks' })).toBe(true)
      expect(await now()).toEqual([['PENDING 10'], '100/10'])
      expect([await activitiesOf(a, given.order), (await claims()).length]).toEqual([[], 0])
    })
  }
})

describe('failed: the fulfillment is gone, 100/10 becomes 100/0, with an activity', () => {
  const failure = { title: '3PL Failure', result: 'ERROR' }

  test('500 "boom": the activity holds 500 and boom', async () => {
    expect(await record(lading, fulfillment, token, { status: 500, body: 'boom' })).toBe(true)
    expect(await now()).toEqual([[], '100/0'])
    const activities = await activitiesOf(a, given.order)
    expect(activities).toMatchObject([{ ...failure, fulfillment_id: fulfillment.id }])
    expect(activities[0]?.description).toContain('500')
    expect(activities[0]?.description).toContain('boom')
    expect(await verify(a)).toEqual([])
  })

  for (const status of [100, 199, 400, 404, 429, 503]) {
    test(`${status}`, async () => {
      expect(await record(lading, fulfillment, token, { status })).toBe(true)
      expect(await now()).toEqual([[], '100/0'])
      const [activity] = await activitiesOf(a, given.order)
      expect(activity).toMatchObject(failure)
      expect(activity?.description).toContain(String(status))
    })
  }

  test('a network error, without status and body', async () => {
    expect(await record(lading, fulfillment, token, { error: 'connect ECONNREFUSED' })).toBe(true)
    expect(await now()).toEqual([[], '100/0'])
    const [activity] = await activitiesOf(a, given.order)
    expect(activity).toMatchObject(failure)
    expect(activity?.description).toContain('connect ECONNREFUSED')
  })

  test('a network error after the head of a good answer', async () => {
    expect(await record(lading, fulfillment, token, { error: 'socket hang up', body: 'half' })).toBe(true)
    const [activity] = await activitiesOf(a, given.order)
    expect(activity?.description).toContain('socket hang up')
    expect(activity?.description).toContain('half')
  })

  test('its units can be fulfilled anew', async () => {
    await record(lading, fulfillment, token, { status: 500 })
    await fulfill(lading, given)
    expect(await now()).toEqual([['NEW 10'], '100/10'])
  })
})

describe('nothing is recorded', () => {
  test('by a token that was superseded, whatever it brings', async () => {
    await sql`update internal.send_order_claims set lease_expires_time = now() - interval '1 s'`
    expect((await claim(lading, fulfillment))?.token).toBe(2)
    expect(await record(lading, fulfillment, token, { status: 500, body: 'boom' })).toBe(false)
    expect(await record(lading, fulfillment, token, { status: 200 })).toBe(false)
    expect([await now(), await activitiesOf(a, given.order)]).toEqual([[['NEW 10'], '100/10'], []])
    expect(await record(lading, fulfillment, 2, { status: 200 })).toBe(true)
    expect(await now()).toEqual([['PENDING 10'], '100/10'])
  })

  test('twice', async () => {
    expect(await record(lading, fulfillment, token, { status: 200 })).toBe(true)
    expect(await record(lading, fulfillment, token, { status: 500 })).toBe(false)
    expect(await now()).toEqual([['PENDING 10'], '100/10'])
  })

  test('of a fulfillment that was canceled in between', async () => {
    succeeded(await patchFulfillment(a, fulfillment, { status: 'CANCELED' }))
    for (const status of [200, 500]) expect(await record(lading, fulfillment, token, { status })).toBe(false)
    expect([await now(), await activitiesOf(a, given.order)]).toEqual([[['CANCELED 10'], '100/0'], []])
  })

  test('of one that was deleted in between', async () => {
    succeeded(await deleteFulfillment(a, fulfillment))
    for (const status of [200, 500]) expect(await record(lading, fulfillment, token, { status })).toBe(false)
    expect([await now(), await activitiesOf(a, given.order)]).toEqual([[[], '100/0'], []])
  })

  test('of one that has shipped in between: the warehouse was quicker than its answer', async () => {
    succeeded(await patchFulfillment(a, fulfillment, { status: 'OPEN' }))
    for (const status of [200, 500]) expect(await record(lading, fulfillment, token, { status })).toBe(false)
    expect(await now()).toEqual([['OPEN 10'], '90/0'])
  })
})

test('two workers record at once: one of them', async () => {
  const results = await Promise.all(
    [200, 500, 200, 500].map((status) => record(lading, fulfillment, token, { status })),
  )
  expect(results.filter(Boolean)).toHaveLength(1)
})
