import { beforeEach, describe, expect, test } from 'vitest'
import { addChannel, distinct } from '../../builders.ts'
import { startLading } from '../../harness/lading.ts'
import { expectRefused, type UpdateResult } from '../callback.ts'
import { activitiesOf, addPending, type Pending } from '../scenario.ts'
import { expectUnchanged } from '../snapshot.ts'

const lading = await startLading()
const { a, b, sql } = lading

let given: Pending
beforeEach(async () => {
  await sql`delete from internal.queued_callbacks`
  given = await addPending(lading, { stepFields: { is_synchronous: false } })
})

const queued = () => sql<{ id: string }[]>`select id from internal.queued_callbacks order by id`
const apply = async (id: string): Promise<UpdateResult | null> => {
  const [row] = await sql<{ result: UpdateResult | null }[]>`select internal.apply_queued_callback(${id}) as result`
  return row?.result ?? null
}
const accepted = { status: 202, text: '' }

describe('a step that is not synchronous', () => {
  test('202, queued with a job, nothing applied yet; applied: 100/10 becomes 90/0', async () => {
    const before = await sql`select from graphile_worker.jobs where task_identifier = 'apply_callback'`
    expect(await given.ship(10)).toMatchObject(accepted)
    expect([await given.states(), await given.stock()]).toEqual([['PENDING 10'], '100/10'])
    const [message] = await queued()
    expect(await queued()).toHaveLength(1)
    expect(await sql`select from graphile_worker.jobs where task_identifier = 'apply_callback'`).toHaveLength(
      before.length + 1,
    )
    expect(await apply(message?.id ?? '')).toEqual({
      inventoryAdjustmentCount: 2,
      inventorySetCount: 0,
      orderActivityCount: 0,
      orderUpdateCount: 1,
    })
    expect([await given.states(), await given.stock(), await queued()]).toEqual([['OPEN 10'], '90/0', []])
  })

  test('applied twice: the second time there is nothing', async () => {
    await given.ship(10)
    const [message] = await queued()
    expect(await apply(message?.id ?? '')).not.toBeNull()
    expect(await apply(message?.id ?? '')).toBeNull()
    expect(await given.stock()).toBe('90/0')
  })

  test('two workers at once apply it once', async () => {
    await given.ship(10)
    const [message] = await queued()
    const results = await Promise.all(Array.from({ length: 5 }, () => apply(message?.id ?? '')))
    expect(results.filter((result) => result !== null)).toHaveLength(1)
    expect(await given.stock()).toBe('90/0')
  })

  test('the same message queued twice is applied once', async () => {
    for (let n = 0; n < 2; n++) expect(await given.ship(10)).toMatchObject(accepted)
    const results: (UpdateResult | null)[] = []
    for (const { id } of await queued()) results.push(await apply(id))
    expect(results.map((result) => result !== null)).toEqual([true, false])
    expect(await given.stock()).toBe('90/0')
  })

  test('the Idempotency-Key goes with it', async () => {
    const options = { partialShipments: true, headers: { 'Idempotency-Key': distinct('K') } }
    const lineItems = [{ sku: given.item.sku, quantity: 3 }]
    for (let n = 0; n < 2; n++) expect(await given.post({ lineItems }, options)).toMatchObject(accepted)
    for (const { id } of await queued()) await apply(id)
    expect([await given.states(), await given.stock()]).toEqual([['OPEN 3', 'PENDING 7'], '97/7'])
  })

  test('checked first: a body that does not fit the schema is 400 and not queued, keys and step as ever', async () => {
    await expectUnchanged(sql, async () => {
      expectRefused(await given.ship(0), 'lineItems[0].quantity')
      expect(await given.post({ lineItems: [] }, { key: null })).toMatchObject({ status: 401 })
      expect(await given.post({ lineItems: [] }, { key: b.warehouseKey })).toMatchObject({ status: 404 })
    })
  })

  test('one that is refused when it is applied: it leaves the queue, the order says why', async () => {
    expect(await given.ship(11)).toMatchObject(accepted)
    const [message] = await queued()
    const id = message?.id ?? ''
    await expect(apply(id)).rejects.toThrow('lineItems[0].quantity: more than is pending')
    expect(await queued()).toHaveLength(1)
    await sql`select internal.refuse_queued_callback(${id}, 'more than is pending')`
    expect([await queued(), await given.stock()]).toEqual([[], '100/10'])
    expect(await activitiesOf(a, given.order)).toMatchObject([
      { title: 'Callback Refused', description: 'more than is pending', result: 'ERROR' },
    ])
    await sql`select internal.refuse_queued_callback(${id}, 'again')`
    expect(await activitiesOf(a, given.order)).toHaveLength(1)
  })

  test('a refused one of a step with a channel filter says so only on orders of its channels', async () => {
    const channels = [await addChannel(a, null), await addChannel(a, null)]
    const [mine, other] = channels
    const orderFields = { channel_order_id: distinct('CO') }
    const one = await addPending(lading, {
      channel: mine ?? null,
      orderFields,
      stepFields: { is_synchronous: false, channel_ids: [mine?.id] },
    })
    const two = await addPending(lading, { channel: other ?? null, orderFields })
    await one.post(
      { lineItems: [{ sku: one.item.sku, quantity: 11 }] },
      { order: { channelOrderId: orderFields.channel_order_id } },
    )
    const [message] = await queued()
    await sql`select internal.refuse_queued_callback(${message?.id ?? ''}, 'more than is pending')`
    expect([await activitiesOf(a, one.order), await activitiesOf(a, two.order)]).toMatchObject([
      { length: 1 },
      { length: 0 },
    ])
  })

  test('a step that is removed takes its queued messages along', async () => {
    await given.ship(10)
    const [message] = await queued()
    await sql`update api.fulfillments set supplier_id = null`
    expect((await a.rest.delete(`/process_shipments_steps?id=eq.${given.step}`)).status).toBe(204)
    expect([await queued(), await apply(message?.id ?? '')]).toEqual([[], null])
    expect(await given.stock()).toBe('100/10')
  })
})
