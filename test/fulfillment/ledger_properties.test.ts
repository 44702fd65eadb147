import fc from 'fast-check'
import { expect, test } from 'vitest'
import { addChannel, addItem, addLocation, addOrder, stock, verify } from '../builders.ts'
import { startLading } from '../harness/lading.ts'
import { postCallback } from './callback.ts'
import { addStep, deleteFulfillment, patchFulfillment } from './scenario.ts'

const lading = await startLading()
const { a, sql } = lading

const statuses = ['NEW', 'PENDING', 'OPEN', 'SUCCESS', 'CANCELED', 'BACKORDER'] as const

type Step =
  | { do: 'create'; order: number; item: number; quantity: number }
  | { do: 'patch'; which: number; status: (typeof statuses)[number] }
  | { do: 'move'; which: number; location: number }
  | { do: 'delete'; which: number }
  | { do: 'line'; which: number; quantity: number }
  | { do: 'order'; order: number; status: string }
  | { do: 'ordered'; order: number; quantity: number }
  | {
      do: 'callback'
      which: number
      status: (typeof statuses)[number]
      quantity: number
      partial: boolean
      mark: number
    }
  | { do: 'refuse'; which: number; cancel: boolean }

const small = fc.integer({ min: 1, max: 8 })
const which = fc.nat(20)
const order = fc.nat(1)
const status = fc.constantFrom(...statuses)
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('create' as const), order, item: fc.nat(1), quantity: small }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('patch' as const), which, status }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('move' as const), which, location: fc.nat(2) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('delete' as const), which }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('line' as const), which, quantity: small }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('order' as const),
      order,
      status: fc.constantFrom('open', 'closed', 'hold', 'canceled'),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('ordered' as const), order, quantity: fc.integer({ min: 0, max: 12 }) }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('callback' as const),
      which,
      status,
      quantity: small,
      partial: fc.boolean(),
      mark: fc.nat(3),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('refuse' as const), which, cancel: fc.boolean() }) },
)

const makeWorld = async () => {
  const items = [await addItem(a), await addItem(a)]
  const virtual = await addLocation(a, { is_virtual: true })
  const locations = [await addLocation(a), await addLocation(a), await addLocation(a)]
  const channel = await addChannel(a, virtual)
  const callbackStep = await addStep(a, locations.slice(0, 2), {
    virtual_location_id: virtual,
    zeroes_short_inventory: true,
  })
  for (const item of items) {
    for (const location of [...locations, virtual]) await stock(a, item, location, 100)
  }
  const lines = items.map((item) => ({ item, quantity: 10 }))
  const orders = [await addOrder(a, { channel, lines }), await addOrder(a, { channel, lines })]

  const fulfillments = () => sql<
    {
      id: string
      order_id: string
      location_id: string
      name: string | null
      line: string | null
      sku: string | null
    }[]
  >`
    select f.id, f.order_id, f.location_id, f.additional_fields ->> 'warehouse_order_id' as name, l.id as line, l.sku
    from api.fulfillments f
    left join lateral (select l.id, l.sku from api.fulfillment_line_items l where l.fulfillment_id = f.id order by l.id limit 1) l on true
    where f.order_id = any (${orders.map(({ id }) => id)}::uuid[])
    order by f.id`

  const run = async (given: Step): Promise<number> => {
    const all = 'which' in given ? await fulfillments() : []
    const fulfillment = 'which' in given ? all[given.which % Math.max(1, all.length)] : undefined
    if ('which' in given && fulfillment === undefined) return 200
    const of = 'order' in given ? orders[given.order] : undefined
    switch (given.do) {
      case 'create':
        return (
          await a.rest.rpc('create_fulfillment', {
            fulfillment: {
              order_id: of?.id,
              location_id: locations[0],
              additional_fields: { warehouse_order_id: crypto.randomUUID() },
              line_items: [{ sku: items[given.item]?.sku, quantity: given.quantity }],
            },
          })
        ).status
      case 'patch':
        return (await patchFulfillment(a, fulfillment ?? { id: '' }, { status: given.status })).status
      case 'move':
        return (await patchFulfillment(a, fulfillment ?? { id: '' }, { location_id: locations[given.location] })).status
      case 'delete':
        return (await deleteFulfillment(a, fulfillment ?? { id: '' })).status
      case 'line':
        return (
          await a.rest.patch(`/fulfillment_line_items?fulfillment_id=eq.${fulfillment?.id}`, {
            quantity: given.quantity,
          })
        ).status
      case 'order':
        return (await a.rest.patch(`/orders?id=eq.${of?.id}`, { status: given.status })).status
      case 'ordered':
        return (await a.rest.patch(`/order_line_items?order_id=eq.${of?.id}`, { quantity: given.quantity })).status
      case 'refuse':
        return (
          await postCallback(lading, callbackStep, {
            warehouseOrderId: fulfillment?.name,
            [given.cancel ? 'cancellationReason' : 'rejectionReason']: crypto.randomUUID(),
          })
        ).status
      case 'callback':
        return (
          await postCallback(lading, callbackStep, {
            orderUpdate: {
              id: fulfillment?.order_id,
              fulfillments: [
                {
                  id: fulfillment?.id,
                  locationId: fulfillment?.location_id,
                  status: given.status,
                  trackingNumber: `T${given.mark}`,
                  lineItems: [{ sku: fulfillment?.sku ?? 'none', quantity: given.quantity }],
                },
              ],
            },
            fulfillmentOptions: { partialShipments: given.partial },
          })
        ).status
    }
  }

  const check = async () => {
    expect(await verify(a)).toEqual([])
    const places = [...locations, virtual]
    const wrong = await sql`
      select l.location_id, l.inventory_item_id, l.committed, held.units
      from internal.inventory_levels l
      cross join lateral (
        select coalesce(sum(units), 0) as units from (
          select line.quantity as units
          from api.fulfillment_line_items line
          join api.fulfillments f on f.id = line.fulfillment_id
          where f.location_id = l.location_id and line.inventory_item_id = l.inventory_item_id and f.status in ('NEW', 'PENDING')
          union all
          select c.committed from internal.commitments c
          where c.cause_type = 'order_line_item' and c.location_id = l.location_id and c.inventory_item_id = l.inventory_item_id
        ) u
      ) held
      where l.location_id = any (${places}::uuid[])
        and (l.committed <> held.units or l.committed < 0 or l.incoming < 0)`
    expect(wrong).toEqual([])
    const overFulfilled = await sql`
      select l.id
      from api.order_line_items l
      left join api.fulfillment_line_items line on line.order_line_item_id = l.id
      left join api.fulfillments f on f.id = line.fulfillment_id
      where l.order_id = any (${orders.map(({ id }) => id)}::uuid[])
      group by l.id
      having coalesce(sum(line.quantity) filter (where f.status not in ('CANCELED', 'BACKORDER')), 0) > l.quantity`
    expect(overFulfilled).toEqual([])
    const shippedTwice = await sql`
      select e.cause_id, e.inventory_item_id
      from api.inventory_adjustments e
      where e.location_id = any (${locations}::uuid[]) and e.inventory_status = 'available_to_sell'
        and e.operation = 'ADJUST' and e.cause_type = 'fulfillment'
      group by 1, 2
      having -sum(e.quantity) <> (
        select coalesce(sum(line.quantity) filter (where f.status in ('OPEN', 'SUCCESS')), 0)
        from api.fulfillments f
        join api.fulfillment_line_items line on line.fulfillment_id = f.id
        where f.id = e.cause_id and line.inventory_item_id = e.inventory_item_id
      )`
    expect(shippedTwice).toEqual([])
  }
  return { run, check }
}

test('whatever is done, one after the other: committed is what is held, nothing is over-fulfilled or shipped twice', {
  timeout: 90_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), async (steps) => {
      const world = await makeWorld()
      for (const one of steps) expect([200, 201, 204, 400, 409]).toContain(await world.run(one))
      await world.check()
    }),
    { numRuns: 25, endOnFailure: true },
  )
})

test('whatever is done, all at once', { timeout: 90_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ do: fc.constant('create' as const), order, item: fc.nat(1), quantity: small }), {
        minLength: 4,
        maxLength: 6,
      }),
      fc.array(step, { minLength: 10, maxLength: 25 }),
      async (first, steps) => {
        const world = await makeWorld()
        for (const one of first) await world.run(one)
        const codes = await Promise.all(steps.map((one) => world.run(one)))
        for (const code of codes) expect([200, 201, 204, 400, 409]).toContain(code)
        await world.check()
      },
    ),
    { numRuns: 25, endOnFailure: true },
  )
})
