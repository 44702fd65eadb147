import type { TransactionSql } from 'postgres'
import { describe, expect, test } from 'vitest'
import { inPortal } from '../../sidecar/portal/in_portal.ts'
import { connect } from '../../stack/database.ts'
import { startLading } from '../harness/lading.ts'
import { makeLink, tokenOf } from './visitor.ts'
import { type AddedDelivery, addConfiguration, addDelivery } from './webhooks.ts'

const lading = await startLading()
const { sql, a, b } = lading

/** As the portal does, for the business of a link. */
const asBusiness = async <Row extends object>(
  business: typeof a,
  query: (sql: TransactionSql) => PromiseLike<readonly Row[]>,
): Promise<Row[]> => {
  const connection = connect(lading.authenticatorUrl)
  const [opened] = await connection<{ session: string }[]>`
    select internal.open_portal_session(${tokenOf(await makeLink(business))}) as session`
  const rows = await inPortal(connection, opened?.session ?? '', 'read write', async (transaction) => [
    ...(await query(transaction)),
  ])
  await connection.end()
  return rows ?? []
}

describe('first_id_at', () => {
  test('is the lowest of the ids made from an instant on', async () => {
    const [row] = await sql`
      select internal.first_id_at(now() - interval '2 ms') <= uuidv7() as before, internal.first_id_at(now() + interval '1 s') > uuidv7() as after,
        uuid_extract_timestamp(internal.first_id_at('2026-03-02T10:00:00.123Z')) = '2026-03-02T10:00:00.123Z' as exact,
        internal.first_id_at('-infinity') < uuidv7() and internal.first_id_at('infinity') > uuidv7() as at_the_ends`
    expect(row).toEqual({ before: true, after: true, exact: true, at_the_ends: true })
  })
})

describe('webhook_delivery_statistics', () => {
  test('counts by hour and in all what the business had fired in the time, without tests', async () => {
    const mine = await addConfiguration(sql, a.id)
    const theirs = await addConfiguration(sql, b.id)
    for (const duration_ms of [10, 20, 30, 40]) await addDelivery(sql, mine, { minutesAgo: 60, duration_ms })
    await addDelivery(sql, mine, { minutesAgo: 180, state: 'failed', duration_ms: 900 })
    await addDelivery(sql, mine, { minutesAgo: 180, state: 'canceled' })
    await addDelivery(sql, mine, { state: 'pending' })
    await addDelivery(sql, mine, { minutesAgo: 60, is_test: true })
    await addDelivery(sql, mine, { minutesAgo: 24 * 60 + 1 })
    await addDelivery(sql, theirs, { minutesAgo: 60 })
    const rows = await asBusiness(
      a,
      (transaction) => transaction`
      select hour, delivered, failed, canceled, waiting, p50_ms, p95_ms
      from internal.webhook_delivery_statistics(now() - interval '1 day')`,
    )
    expect(rows.find(({ hour }) => hour === null)).toEqual({
      hour: null,
      delivered: 4,
      failed: 1,
      canceled: 1,
      waiting: 1,
      p50_ms: 30,
      p95_ms: 900,
    })
    expect(
      rows
        .filter(({ hour }) => hour !== null)
        .map(({ delivered, failed, canceled, waiting }) => [delivered, failed, canceled, waiting]),
    ).toEqual([
      [0, 1, 1, 0],
      [4, 0, 0, 0],
      [0, 0, 0, 1],
    ])
  })
})

describe('webhook_configurations_health', () => {
  test('tells of each configuration of the business alone how it fares', async () => {
    const business = await lading.addBusiness('Health')
    const works = await addConfiguration(sql, business.id)
    const fails = await addConfiguration(sql, business.id)
    await addDelivery(sql, works, { minutesAgo: 5 })
    await addDelivery(sql, works, { minutesAgo: 3_000 })
    await addDelivery(sql, fails, { state: 'failed' })
    await addDelivery(sql, fails, { state: 'pending' })
    await sql`
      insert into internal.webhook_failures (business_id, webhook_configuration_id, failing_since)
      values (${business.id}, ${fails.id}, '2026-03-02T10:00:00Z')`
    const rows = await asBusiness(
      business,
      (transaction) => transaction`
      select * from internal.webhook_configurations_health(now() - interval '1 day') order by 1`,
    )
    expect(rows).toEqual([
      {
        webhook_configuration_id: works.id,
        failing_since: null,
        delivered: 1,
        failed: 0,
        waiting: 0,
        last_delivered_time: expect.any(Date),
      },
      {
        webhook_configuration_id: fails.id,
        failing_since: new Date('2026-03-02T10:00:00Z'),
        delivered: 0,
        failed: 1,
        waiting: 1,
        last_delivered_time: null,
      },
    ])
  })
})

describe('webhook_deliveries_page', () => {
  test('finds by every filter at once, and goes on from an id in both directions', async () => {
    const business = await lading.addBusiness('Pages')
    const configuration = await addConfiguration(sql, business.id)
    const added: AddedDelivery[] = []
    for (const minutesAgo of [50, 40, 30, 20, 10]) added.push(await addDelivery(sql, configuration, { minutesAgo }))
    const [first, second, third, fourth, fifth] = added.map(({ id }) => id)
    const ids = async (query: (transaction: TransactionSql) => PromiseLike<readonly { id: string }[]>) =>
      (await asBusiness(business, query)).map(({ id }) => id)

    expect(await ids((t) => t`select id from internal.webhook_deliveries_page(most => 2)`)).toEqual([fifth, fourth])
    expect(
      await ids((t) => t`select id from internal.webhook_deliveries_page(before => ${fourth ?? null}, most => 2)`),
    ).toEqual([third, second])
    expect(
      await ids((t) => t`select id from internal.webhook_deliveries_page(after => ${first ?? null}, most => 2)`),
    ).toEqual([third, second])
    const object = added[2]?.object_id ?? null
    const all = (t: TransactionSql, state: string) => t<{ id: string }[]>`
      select id from internal.webhook_deliveries_page(
        ${configuration.id}, 'shipment.created', ${state}, ${object}, now() - interval '35 minutes', now() - interval '25 minutes')`
    expect(await ids((t) => all(t, 'delivered'))).toEqual([third])
    expect(await ids((t) => all(t, 'failed'))).toEqual([])
  })
})

describe('save_webhook_configuration', () => {
  test('creates and changes a configuration with exactly the subscriptions given, and knows none of another business', async () => {
    const save = async (
      business: typeof a,
      id: string | null,
      subscriptions: { action: string; capture_snapshot: boolean }[],
    ) =>
      (
        await asBusiness(
          business,
          (t) => t<{ id: string | null }[]>`
          select internal.save_webhook_configuration(${id}, 'N', 'https://consumer.example', true, ${t.json(subscriptions)}) as id`,
        )
      )[0]?.id ?? null
    const id = await save(b, null, [
      { action: 'shipment.created', capture_snapshot: false },
      { action: 'shipment.deleted', capture_snapshot: false },
    ])
    expect(await save(b, id, [{ action: 'shipment.created', capture_snapshot: true }])).toBe(id)
    expect(
      await sql`select business_id, action, capture_snapshot from api.webhook_configuration_actions where webhook_configuration_id = ${id}`,
    ).toEqual([{ business_id: b.id, action: 'shipment.created', capture_snapshot: true }])
    expect(await save(a, id, [])).toBeNull()
  })
})
