import { describe, expect, test } from 'vitest'
import { addShipment, patchShipment, succeeded } from '../../builders.ts'
import { startLading, type TestBusiness } from '../../harness/lading.ts'
import { addConfiguration, attemptsOf, configurationOf, deliveriesOf, fire } from '../webhooks.ts'

const lading = await startLading()
const { a, sql } = lading

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const schedule = [5 * SECOND, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 14 * HOUR, 20 * HOUR, 24 * HOUR]

interface Claim {
  delivery_id: string
  lease_token: string
  event_id: string
  body: string
}

const claim = (configuration: { id: string }, at = new Date(), most = 10): Promise<Claim[]> =>
  sql<Claim[]>`select * from internal.claim_deliveries(${configuration.id}, ${most}, '60 s', ${at.toISOString()})`

const record = async (held: Claim | undefined, answer: object, at = new Date()): Promise<string | null | undefined> => {
  const attempt = { request_url: 'https://consumer.example', duration_ms: 5, ...answer }
  const [row] = await sql<{ state: string | null }[]>`
    select internal.record_attempt(
      ${held?.delivery_id ?? null}, ${held?.lease_token ?? null}, ${sql.json(attempt)}, ${at.toISOString()}
    ) as state`
  return row?.state
}

const failing = { response_status: 500, error: 'Answered 500' }
const delivered = { response_status: 200 }

/** A configuration with so many deliveries that are due. */
const due = async (count = 1, business: TestBusiness = a) => {
  const configuration = await addConfiguration(business, { actions: ['shipment.created'] })
  for (let made = 0; made < count; made += 1) await addShipment(business, {})
  await fire(sql)
  return configuration
}

const later = (from: Date, milliseconds: number): Date => new Date(from.getTime() + milliseconds)

describe('the schedule', () => {
  test('nine retries, each within 20 % of its delay, then failed', async () => {
    const configuration = await due()
    let at = later(new Date(), SECOND)
    for (const [index, delay] of schedule.entries()) {
      const [held] = await claim(configuration, at)
      expect(await record(held, failing, at)).toBe('pending')
      const [delivery] = await deliveriesOf(a, configuration)
      const next = new Date(delivery?.next_attempt_time ?? 0)
      const waited = next.getTime() - at.getTime()
      expect(waited, `retry ${index + 1}`).toBeGreaterThanOrEqual(0.8 * delay - 1)
      expect(waited, `retry ${index + 1}`).toBeLessThanOrEqual(1.2 * delay + 1)
      expect(await claim(configuration, later(next, -10)), 'not before its time').toEqual([])
      at = later(next, 10)
    }
    const [held] = await claim(configuration, at)
    expect(await record(held, failing, at)).toBe('failed')
    const [delivery] = await deliveriesOf(a, configuration)
    expect(delivery).toMatchObject({ state: 'failed', attempt_count: 10, next_attempt_time: null })
    expect((await attemptsOf(a, delivery ?? { id: '' })).map(({ attempt_number }) => attempt_number)).toEqual(
      Array.from({ length: 10 }, (_, n) => n + 1),
    )
    expect(await claim(configuration, later(at, 90 * DAY))).toEqual([])
  })

  test('the jitter spreads from -20 % to +20 %', async () => {
    const rows = await sql<{ low: number; middle: number; high: number; ended: string | null }[]>`
      select extract(epoch from internal.retry_delay(2, 0))::float as low,
        extract(epoch from internal.retry_delay(2, 0.5))::float as middle,
        extract(epoch from internal.retry_delay(2, 1))::float as high,
        internal.retry_delay(10, 0.5) as ended`
    expect(rows[0]).toEqual({ low: 240, middle: 300, high: 360, ended: null })
  })

  test('Retry-After puts an attempt off, never forward, and for a day at most', async () => {
    for (const [seconds, lowest, highest] of [
      [3_600, 3_600, 3_600],
      [1, 4, 6],
      [10 ** 9, 86_400, 86_400],
    ] as const) {
      const configuration = await due()
      const at = later(new Date(), SECOND)
      const [held] = await claim(configuration, at)
      await record(held, { ...failing, retry_after_seconds: seconds }, at)
      const [delivery] = await deliveriesOf(a, configuration)
      const waited = (new Date(delivery?.next_attempt_time ?? 0).getTime() - at.getTime()) / SECOND
      expect(waited).toBeGreaterThanOrEqual(lowest - 0.01)
      expect(waited).toBeLessThanOrEqual(highest + 0.01)
    }
  })
})

describe('five days of failure', () => {
  test('disable the configuration with a reason; enabled again through its resource it has a clean slate', async () => {
    const configuration = await due(2)
    const begun = later(new Date(), SECOND)
    const [first] = await claim(configuration, begun, 1)
    await record(first, failing, begun)

    const almost = later(begun, 5 * DAY - MINUTE)
    const [second] = await claim(configuration, almost, 1)
    await record(second, failing, almost)
    expect(await configurationOf(a, configuration.id)).toMatchObject({ is_enabled: true, disabled_reason: null })

    const after = later(begun, 5 * DAY)
    const [third] = await claim(configuration, after, 1)
    await record(third, failing, after)
    const disabled = await configurationOf(a, configuration.id)
    expect(disabled).toMatchObject({
      is_enabled: false,
      disabled_reason: 'Every delivery has failed for five days',
    })
    expect(new Date(disabled?.disabled_time ?? 0).getTime()).toBe(after.getTime())
    expect((await deliveriesOf(a, configuration)).map(({ state }) => state)).toEqual(['canceled', 'canceled'])
    expect(await claim(configuration, later(after, DAY))).toEqual([])

    succeeded(await a.rest.patch(`/webhook_configurations?id=eq.${configuration.id}`, { is_enabled: true }))
    expect(await configurationOf(a, configuration.id)).toMatchObject({
      is_enabled: true,
      disabled_reason: null,
      disabled_time: null,
    })
    await addShipment(a, {})
    await fire(sql)
    const [again] = await claim(configuration, later(after, DAY), 1)
    expect(await record(again, failing, later(after, DAY))).toBe('pending')
    expect(await configurationOf(a, configuration.id)).toMatchObject({ is_enabled: true })
  })

  test('one success in between begins them anew', async () => {
    const configuration = await due(3)
    const begun = later(new Date(), SECOND)
    const [first, second] = await claim(configuration, begun, 2)
    await record(first, failing, begun)
    await record(second, delivered, later(begun, 20 * SECOND))
    const after = later(begun, 6 * DAY)
    const [third] = await claim(configuration, after, 1)
    await record(third, failing, after)
    expect(await configurationOf(a, configuration.id)).toMatchObject({ is_enabled: true })
  })

  test('a test event that fails does not count', async () => {
    const configuration = await addConfiguration(a)
    await a.rest.rpc('send_test_webhook', { webhook_configuration_id: configuration.id, action: 'shipment.created' })
    for (const at of [later(new Date(), SECOND), later(new Date(), 6 * DAY)]) {
      const [held] = await claim(configuration, at)
      await record(held, failing, at)
    }
    expect(await configurationOf(a, configuration.id)).toMatchObject({ is_enabled: true })
  })
})

describe('disabling', () => {
  test('cancels what waits; what is under way is recorded, and not tried again', async () => {
    const configuration = await due(3)
    const [failed, reached] = await claim(configuration, new Date(Date.now() + SECOND), 2)
    succeeded(await a.rest.patch(`/webhook_configurations?id=eq.${configuration.id}`, { is_enabled: false }))
    expect((await deliveriesOf(a, configuration)).map(({ state }) => state).sort()).toEqual([
      'canceled',
      'sending',
      'sending',
    ])
    expect(await record(failed, failing)).toBe('canceled')
    expect(await record(reached, delivered)).toBe('delivered')
    for (const { delivery_id } of [failed, reached] as Claim[]) {
      expect(await attemptsOf(a, { id: delivery_id })).toHaveLength(1)
    }
  })

  test('what a worker that died was sending is canceled by the sweep', async () => {
    const configuration = await due()
    await sql`select internal.claim_deliveries(${configuration.id}, 1, '-1 s')`
    succeeded(await a.rest.patch(`/webhook_configurations?id=eq.${configuration.id}`, { is_enabled: false }))
    await sql`select internal.queue_due_deliveries()`
    expect(await deliveriesOf(a, configuration)).toMatchObject([
      { state: 'canceled', error: 'The configuration was disabled' },
    ])
  })

  test('two consumers of many answers 410 at once: no deadlock, all attempts are kept', async () => {
    const configurations = [await due(8), await due(8)]
    await Promise.all(
      configurations.map(async (configuration) => {
        const held = await claim(configuration, later(new Date(), SECOND), 20)
        await Promise.all(held.map((one) => record(one, { response_status: 410, error: 'Answered 410' })))
        const deliveries = await deliveriesOf(a, configuration)
        expect(
          deliveries.every(({ state, attempt_count }) => ['failed', 'canceled'].includes(state) && attempt_count === 1),
        ).toBe(true)
      }),
    )
  })
})

describe('the lease', () => {
  test('a delivery is claimed once until it runs out; only the latest token records', async () => {
    const configuration = await due()
    const at = later(new Date(), SECOND)
    const [lost] = await claim(configuration, at)
    expect(await claim(configuration, later(at, 59 * SECOND))).toEqual([])
    const [held] = await claim(configuration, later(at, 61 * SECOND))
    expect(held).toMatchObject({ delivery_id: lost?.delivery_id, event_id: lost?.event_id, body: lost?.body })
    expect(await record(lost, delivered)).toBeNull()
    expect(await deliveriesOf(a, configuration)).toMatchObject([{ state: 'sending', attempt_count: 0 }])
    expect(await record(held, delivered)).toBe('delivered')
    expect(await record(held, delivered), 'a second time').toBeNull()
    expect(await record(lost, failing)).toBeNull()
    expect(await attemptsOf(a, { id: held?.delivery_id ?? '' })).toHaveLength(1)
  })

  test('what is given back is due at once; by a token that was superseded nothing is', async () => {
    const configuration = await due()
    const [lost] = await sql<Claim[]>`select * from internal.claim_deliveries(${configuration.id}, 1, '-1 s')`
    const [held] = await claim(configuration)
    const release = (one: Claim | undefined) =>
      sql`
        select internal.release_deliveries(
          array[${one?.delivery_id ?? ''}]::uuid[], array[${one?.lease_token ?? ''}]::bigint[]
        )`
    await release(lost)
    expect(await deliveriesOf(a, configuration)).toMatchObject([{ state: 'sending' }])
    await release(held)
    expect(await deliveriesOf(a, configuration)).toMatchObject([{ state: 'pending', attempt_count: 0 }])
    expect(await claim(configuration, later(new Date(), SECOND))).toHaveLength(1)
  })

  test('claims at the same time share what is due', async () => {
    const configuration = await due(12)
    const at = later(new Date(), SECOND)
    const claims = await Promise.all(Array.from({ length: 6 }, () => claim(configuration, at, 4)))
    const ids = claims.flat().map(({ delivery_id }) => delivery_id)
    expect(ids).toHaveLength(12)
    expect(new Set(ids).size).toBe(12)
  })

  test('a claim reads no more than it takes, however much is due at one moment', async () => {
    const configuration = await due()
    await sql`
      insert into api.webhook_deliveries (business_id, webhook_configuration_id, event_id, action, object_id, sequence, event_time, payload, payload_bytes)
      select ${a.id}, ${configuration.id}, uuidv7(), 'shipment.created', uuidv7(), 1, now(), '{}', 2
      from generate_series(1, 5000)`
    await sql`analyze api.webhook_deliveries`
    const [explained] = await sql<{ 'QUERY PLAN': [{ Plan: { 'Shared Hit Blocks': number } }] }[]>`
      explain (analyze, buffers, format json) select from internal.claim_deliveries(${configuration.id}, 1)`
    expect(explained?.['QUERY PLAN'][0].Plan['Shared Hit Blocks']).toBeLessThan(1_000)
    await sql`delete from api.webhook_deliveries where webhook_configuration_id = ${configuration.id}`
  })
})

test('the body of a large delivery is built again: its snapshot, else the object as it is', async () => {
  const big = { note: 'n'.repeat(301_000) }
  const configurations = [
    await addConfiguration(a, { actions: ['shipment.updated'], capture_snapshot: true }),
    await addConfiguration(lading.b, { actions: ['shipment.updated'] }),
  ]
  const bodies: Claim[] = []
  for (const [index, business] of [a, lading.b].entries()) {
    const shipment = await addShipment(business, {})
    succeeded(await patchShipment(business, shipment, { carrier: 'Then', additional_fields: big }))
    await fire(sql)
    await sql`update api.shipments set carrier = 'Now' where id = ${shipment.id}`
    bodies.push(...(await claim(configurations[index] ?? { id: '' }, later(new Date(), SECOND), 1)))
  }
  expect(bodies.map(({ body }) => JSON.parse(body).data.carrier)).toEqual(['Then', 'Now'])
})

test('several recorded at one stroke are as one by one, and superseded tokens among them record nothing', async () => {
  const configuration = await due(4)
  const [lost] = await sql<Claim[]>`select * from internal.claim_deliveries(${configuration.id}, 1, '-1 s')`
  const held = await claim(configuration, later(new Date(), SECOND), 10)
  const attempt = (answer: object) =>
    JSON.stringify({ request_url: 'https://consumer.example', request_headers: { a: 'b' }, duration_ms: 5, ...answer })
  const others = held.filter(({ delivery_id }) => delivery_id !== lost?.delivery_id)
  const given = [lost, ...others] as Claim[]
  await sql`
    select internal.record_attempts(
      ${given.map(({ delivery_id }) => delivery_id)}::uuid[], ${given.map(({ lease_token }) => lease_token)}::bigint[],
      ${[delivered, delivered, failing, { response_status: null, error: 'The connection was reset' }].map(attempt)}::text[]::jsonb[]
    )`
  const stateOf = new Map((await deliveriesOf(a, configuration)).map((delivery) => [delivery.id, delivery]))
  expect(given.map(({ delivery_id }) => stateOf.get(delivery_id)?.state)).toEqual([
    'sending',
    'delivered',
    'pending',
    'pending',
  ])
  expect(await attemptsOf(a, { id: others[0]?.delivery_id ?? '' })).toMatchObject([
    { attempt_number: 1, request_headers: { a: 'b' }, response_status: 200, response_headers: null, error: null },
  ])
  expect(await attemptsOf(a, { id: lost?.delivery_id ?? '' })).toEqual([])
})

test('several attempts ended at once by several workers', async () => {
  const configuration = await due(10)
  const held = await claim(configuration, later(new Date(), SECOND), 10)
  await Promise.all(held.map((one, index) => record(one, index % 2 === 0 ? failing : delivered)))
  const states = (await deliveriesOf(a, configuration)).map(({ state }) => state).sort()
  expect(states).toEqual([...Array(5).fill('delivered'), ...Array(5).fill('pending')])
})
