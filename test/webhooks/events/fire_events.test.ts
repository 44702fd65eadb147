import { describe, expect, test } from 'vitest'
import { add, addItem, addShipment, patchShipment, succeeded } from '../../builders.ts'
import { startLading } from '../../harness/lading.ts'
import { addConfiguration, deliveriesOf, eventsOf, fire } from '../webhooks.ts'

const lading = await startLading()
const { a, b, sql } = lading

const statusesOf = async (shipment: { id: string }) => (await eventsOf(a, shipment)).map(({ status }) => status)

describe('what is delivered', () => {
  test('three changes between runs: three webhooks, one state, growing sequence', async () => {
    const configuration = await addConfiguration(a, { actions: ['shipment.updated'] })
    const shipment = await addShipment(a, {})
    for (const carrier of ['One', 'Two', 'Three']) succeeded(await patchShipment(a, shipment, { carrier }))
    expect(await fire(sql)).toBe(3)
    const deliveries = await deliveriesOf(a, configuration)
    expect(deliveries.map(({ sequence }) => sequence)).toEqual([1, 2, 3])
    expect(new Set(deliveries.map(({ event_id }) => event_id)).size).toBe(3)
    expect(deliveries.map(({ payload }) => payload?.data.carrier)).toEqual(['Three', 'Three', 'Three'])
    succeeded(await patchShipment(a, shipment, { carrier: 'Four' }))
    await fire(sql)
    expect((await deliveriesOf(a, configuration)).at(-1)).toMatchObject({
      sequence: 4,
      payload: { sequence: 4, data: { carrier: 'Four' } },
    })
  })

  test('with capture_snapshot each carries the state of its change, to that configuration only', async () => {
    const snapshots = await addConfiguration(a, { actions: ['shipment.updated'], capture_snapshot: true })
    const current = await addConfiguration(a, { actions: ['shipment.updated'] })
    const shipment = await addShipment(a, {})
    for (const carrier of ['One', 'Two', 'Three']) succeeded(await patchShipment(a, shipment, { carrier }))
    await fire(sql)
    const carriers = async (configuration: { id: string }) =>
      (await deliveriesOf(a, configuration)).map(({ payload }) => payload?.data.carrier)
    expect(await carriers(snapshots)).toEqual(['One', 'Two', 'Three'])
    expect(await carriers(current)).toEqual(['Three', 'Three', 'Three'])
  })

  test('a snapshot is the state after the last change of its transaction', async () => {
    const configuration = await addConfiguration(a, { actions: ['shipment.created'], capture_snapshot: true })
    const item = await addItem(a)
    succeeded(
      await a.rest.rpc('upsert_shipments_full', {
        shipment: { business_id: a.id, shipment_number: 'snap', items: [{ sku: item.sku, quantity: 7 }] },
      }),
    )
    await fire(sql)
    expect((await deliveriesOf(a, configuration))[0]?.payload?.data).toMatchObject({
      shipment_number: 'snap',
      items: [{ sku: item.sku, quantity: 7 }],
    })
  })

  test('of a deleted object its last state, where it was captured; its id at least', async () => {
    const [captured, plain] = [
      await addConfiguration(b, { actions: ['shipment.deleted'], capture_snapshot: true }),
      await addConfiguration(b, { actions: ['shipment.created'] }),
    ]
    const shipment = await addShipment(b, {})
    succeeded(await b.rest.delete(`/shipments?id=eq.${shipment.id}`))
    await fire(sql)
    expect((await deliveriesOf(b, captured))[0]?.payload?.data).toMatchObject({
      id: shipment.id,
      shipment_number: shipment.shipment_number,
    })
    expect((await deliveriesOf(b, plain))[0]?.payload?.data).toEqual({ id: shipment.id, business_id: b.id })
  })

  test('only to the configuration that is subscribed, and never to another business', async () => {
    const business = await lading.addBusiness('Two configurations')
    const subscribed = await addConfiguration(business, { actions: ['shipment.created'] })
    const other = await addConfiguration(business, { actions: ['shipment.deleted'] })
    const foreign = await addConfiguration(a, { actions: ['shipment.created'] })
    const shipment = await addShipment(business, {})
    await fire(sql)
    expect(await deliveriesOf(business, subscribed)).toMatchObject([{ object_id: shipment.id, state: 'pending' }])
    expect(await deliveriesOf(business, other)).toEqual([])
    expect(await deliveriesOf(a, foreign)).toEqual([])
  })
})

describe('event rows that a client writes', () => {
  test('one that is ready is fired, with the JSON that it carries for those who want snapshots', async () => {
    const business = await lading.addBusiness('Writer')
    const [snapshot, current] = [
      await addConfiguration(business, { actions: ['shipment.updated'], capture_snapshot: true }),
      await addConfiguration(business, { actions: ['shipment.updated'] }),
    ]
    const shipment = await addShipment(business, {})
    await add(business, 'shipment_webhooks', {
      shipment_id: shipment.id,
      action: 'shipment.updated',
      shipment_json: { id: shipment.id, note: 'mine' },
    })
    await fire(sql)
    expect((await deliveriesOf(business, snapshot))[0]?.payload?.data).toEqual({ id: shipment.id, note: 'mine' })
    expect((await deliveriesOf(business, current))[0]?.payload?.data).toMatchObject({
      shipment_number: shipment.shipment_number,
    })
  })

  test('one set back to ready is fired again', async () => {
    const business = await lading.addBusiness('Again')
    const configuration = await addConfiguration(business, { actions: ['shipment.created'] })
    const shipment = await addShipment(business, {})
    await fire(sql)
    succeeded(await business.rest.patch(`/shipment_webhooks?shipment_id=eq.${shipment.id}`, { status: 'ready' }))
    await fire(sql)
    expect(await deliveriesOf(business, configuration)).toMatchObject([{ sequence: 1 }, { sequence: 2 }])
  })

  test('of an object of another business it tells no more than the id', async () => {
    const business = await lading.addBusiness('Curious')
    const configuration = await addConfiguration(business, { actions: ['shipment.created'] })
    const foreign = await addShipment(a, {})
    await add(business, 'shipment_webhooks', { shipment_id: foreign.id, action: 'shipment.created' })
    await fire(sql)
    expect((await deliveriesOf(business, configuration))[0]?.payload?.data).toEqual({
      id: foreign.id,
      business_id: business.id,
    })
  })
})

describe('firing', () => {
  test('ready becomes sent with its deliveries, or not at all', async () => {
    const configuration = await addConfiguration(a, { actions: ['shipment.created'] })
    const shipment = await addShipment(a, {})
    const before = (await deliveriesOf(a, configuration)).length
    await sql
      .begin(async (transaction) => {
        await transaction`select internal.fire_events()`
        throw new Error('the worker died')
      })
      .catch(() => undefined)
    expect(await statusesOf(shipment)).toEqual(['ready'])
    expect(await deliveriesOf(a, configuration)).toHaveLength(before)
    await fire(sql)
    expect(await statusesOf(shipment)).toEqual(['sent'])
    expect(await deliveriesOf(a, configuration)).toHaveLength(before + 1)
  })

  test('several workers at once: every event once, sequences without gap, never an older state with a higher one', async () => {
    const business = await lading.addBusiness('Busy')
    const configuration = await addConfiguration(business, { actions: ['shipment.created', 'shipment.updated'] })
    const shipments = await Promise.all(Array.from({ length: 8 }, () => addShipment(business, {})))
    let writing = true
    const write = async () => {
      for (let count = 1; count <= 12; count += 1) {
        await Promise.all(
          shipments.map(
            ({ id }) => sql`update api.shipments set additional_fields = ${sql.json({ count })} where id = ${id}`,
          ),
        )
      }
      writing = false
    }
    const work = async () => {
      while (writing) await sql`select internal.fire_events(null, 5)`
    }
    const fireTransactions = async () => {
      while (writing) {
        await sql`
          select internal.fire_events(
            (select transaction_id from api.shipment_webhooks where status = 'ready' and business_id = ${business.id}
              order by random() limit 1)
          )`
      }
    }
    await Promise.all([write(), work(), work(), fireTransactions(), fireTransactions()])
    await fire(sql)
    const deliveries = await deliveriesOf(business, configuration)
    expect(new Set(deliveries.map(({ event_id }) => event_id)).size).toBe(deliveries.length)
    for (const { id } of shipments) {
      const own = deliveries.filter(({ object_id }) => object_id === id).sort((x, y) => x.sequence - y.sequence)
      expect(own.map(({ sequence }) => sequence)).toEqual(Array.from({ length: 13 }, (_, n) => n + 1))
      const counts = own.map(
        ({ payload }) => (payload?.data.additional_fields as { count?: number } | null)?.count ?? 0,
      )
      expect(counts).toEqual(counts.toSorted((x, y) => x - y))
      expect(counts.at(-1)).toBe(12)
    }
  })

  test('is_immediate queues the firing of its transaction when it commits; others wait for the schedule', async () => {
    const business = await lading.addBusiness('Immediate')
    const jobs = (transaction: number | undefined) => sql`
      select from graphile_worker.jobs where key = ${`fire_webhooks ${transaction}`}`
    const later = await addShipment(business, {})
    const configuration = await addConfiguration(business, { actions: ['shipment.created'] })
    const scheduled = await addShipment(business, {})
    const [waiting] = (await eventsOf(business, scheduled)).map(({ transaction_id }) => transaction_id)
    expect(await jobs(waiting)).toHaveLength(0)
    succeeded(await business.rest.patch(`/webhook_configurations?id=eq.${configuration.id}`, { is_immediate: true }))
    const shipment = await addShipment(business, {})
    const [transaction] = (await eventsOf(business, shipment)).map(({ transaction_id }) => transaction_id)
    expect(await jobs(transaction)).toHaveLength(1)
    expect(await eventsOf(business, later)).toEqual([])

    const [row] = await sql<{ fired: number }[]>`select fired from internal.fire_events(${transaction ?? 0})`
    expect(row?.fired).toBe(1)
    expect(await deliveriesOf(business, configuration)).toMatchObject([{ object_id: shipment.id }])
    expect((await eventsOf(business, scheduled))[0]?.status).toBe('ready')
  })
})
