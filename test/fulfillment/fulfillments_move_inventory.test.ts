import { beforeEach, describe, expect, test } from 'vitest'
import {
  add,
  addChannel,
  addItem,
  addLocation,
  addOrder,
  type Item,
  ledgerOf,
  stock,
  succeeded,
  verify,
} from '../builders.ts'
import { startLading } from '../harness/lading.ts'
import { addFulfillment, addStep, deleteFulfillment, patchFulfillment, type Status, stockOf } from './scenario.ts'

const { a, b } = await startLading()

let shirts: Item
let mugs: Item
let east: string
let west: string
let order: { id: string; lines: { id: string }[] }
beforeEach(async () => {
  ;[shirts, mugs, east, west] = await Promise.all([addItem(a), addItem(a), addLocation(a), addLocation(a)])
  await Promise.all([stock(a, shirts, east, 100), stock(a, mugs, east, 100), stock(a, shirts, west, 100)])
  order = await addOrder(a, {
    channel: null,
    lines: [
      { item: shirts, quantity: 50 },
      { item: mugs, quantity: 50 },
    ],
  })
})

const fulfill = (status: Status, quantity = 10) =>
  addFulfillment(a, { order, location: east, lines: [{ item: shirts, quantity }], status })
const here = () => stockOf(a, shirts, east)
const move = async (fulfillment: { id: string }, fields: object) =>
  succeeded(await patchFulfillment(a, fulfillment, fields))
const line = (fulfillment: { lines: { id: string }[] }) => `/fulfillment_line_items?id=eq.${fulfillment.lines[0]?.id}`

describe('a fulfillment in NEW or PENDING commits its units at its location', () => {
  for (const status of ['NEW', 'PENDING'] as const) {
    test(`created ${status}: 100/0 becomes 100/10, one entry that names the fulfillment`, async () => {
      expect(await here()).toBe('100/0')
      const fulfillment = await fulfill(status)
      expect(await here()).toBe('100/10')
      expect(await ledgerOf(a, `cause_id=eq.${fulfillment.id}`)).toMatchObject([
        {
          cause_type: 'fulfillment',
          inventory_status: 'committed',
          operation: 'ADJUST',
          quantity: 10,
          location_id: east,
        },
      ])
    })

    test(`moved in ${status}: the units follow, 100/10 100/0 becomes 100/0 100/10`, async () => {
      const fulfillment = await fulfill(status)
      await move(fulfillment, { location_id: west })
      expect([await here(), await stockOf(a, shirts, west)]).toEqual(['100/0', '100/10'])
      await move(fulfillment, { location_id: null })
      expect([await here(), await stockOf(a, shirts, west)]).toEqual(['100/0', '100/0'])
      await move(fulfillment, { location_id: east })
      expect(await here()).toBe('100/10')
    })

    test(`deleted in ${status}: released`, async () => {
      const fulfillment = await fulfill(status)
      succeeded(await deleteFulfillment(a, fulfillment))
      expect(await here()).toBe('100/0')
      expect(await ledgerOf(a, `cause_id=eq.${fulfillment.id}`)).toMatchObject([{ quantity: 10 }, { quantity: -10 }])
    })

    for (const ended of ['CANCELED', 'BACKORDER'] as const) {
      test(`${status} → ${ended}: released, once`, async () => {
        const fulfillment = await fulfill(status)
        await move(fulfillment, { status: ended })
        expect(await here()).toBe('100/0')
        await move(fulfillment, { status: ended })
        expect(await here()).toBe('100/0')
        succeeded(await deleteFulfillment(a, fulfillment))
        expect(await here()).toBe('100/0')
        expect(await ledgerOf(a, `cause_id=eq.${fulfillment.id}`)).toHaveLength(2)
      })
    }

    for (const shipped of ['OPEN', 'SUCCESS'] as const) {
      test(`${status} → ${shipped}: 100/10 becomes 90/0, shipped_at is set`, async () => {
        const fulfillment = await fulfill(status)
        const [row] = await move(fulfillment, { status: shipped })
        expect(row?.shipped_at).not.toBeNull()
        expect(await here()).toBe('90/0')
        expect(await ledgerOf(a, `cause_id=eq.${fulfillment.id}`)).toHaveLength(3)
      })
    }
  }

  test('NEW → PENDING books nothing', async () => {
    const fulfillment = await fulfill('NEW')
    await move(fulfillment, { status: 'PENDING' })
    expect([await here(), (await ledgerOf(a, `cause_id=eq.${fulfillment.id}`)).length]).toEqual(['100/10', 1])
  })

  test('OPEN → SUCCESS books nothing more', async () => {
    const fulfillment = await fulfill('OPEN')
    await move(fulfillment, { status: 'SUCCESS' })
    expect([await here(), (await ledgerOf(a, `cause_id=eq.${fulfillment.id}`)).length]).toEqual(['90/0', 3])
  })

  test('BACKORDER → NEW commits again, BACKORDER → CANCELED books nothing', async () => {
    const fulfillment = await fulfill('BACKORDER')
    await move(fulfillment, { status: 'NEW' })
    expect(await here()).toBe('100/10')
    await move(fulfillment, { status: 'BACKORDER' })
    await move(fulfillment, { status: 'CANCELED' })
    expect(await here()).toBe('100/0')
  })

  test('BACKORDER moves: nothing is committed until it is NEW again, there', async () => {
    const fulfillment = await fulfill('BACKORDER')
    await move(fulfillment, { location_id: west })
    expect([await here(), await stockOf(a, shirts, west)]).toEqual(['100/0', '100/0'])
    await move(fulfillment, { status: 'NEW' })
    expect([await here(), await stockOf(a, shirts, west)]).toEqual(['100/0', '100/10'])
  })

  test('state and location in one PATCH: shipped from the new location', async () => {
    const fulfillment = await fulfill('PENDING')
    await move(fulfillment, { status: 'OPEN', location_id: west })
    expect([await here(), await stockOf(a, shirts, west)]).toEqual(['100/0', '90/0'])
  })

  test('without a location nothing is committed, nor shipped', async () => {
    const fulfillment = await addFulfillment(a, { order, location: null, lines: [{ item: shirts, quantity: 10 }] })
    await move(fulfillment, { status: 'OPEN' })
    expect(await here()).toBe('100/0')
    expect(await ledgerOf(a, `cause_id=eq.${fulfillment.id}`)).toEqual([])
  })

  test('fields that do not matter book nothing', async () => {
    const fulfillment = await fulfill('PENDING')
    await move(fulfillment, { tracking_number: 'T1', shipped_at: '2026-01-01T00:00:00Z', additional_fields: { x: 1 } })
    succeeded(await a.rest.patch(line(fulfillment), { vendor: 'Acme', price: 5 }))
    expect(await ledgerOf(a, `cause_id=eq.${fulfillment.id}`)).toHaveLength(1)
  })
})

describe('lines while the fulfillment is NEW or PENDING', () => {
  test('the commitment follows their quantity', async () => {
    const fulfillment = await fulfill('PENDING')
    for (const quantity of [4, 9, 1]) {
      succeeded(await a.rest.patch(line(fulfillment), { quantity }))
      expect(await here()).toBe(`100/${quantity}`)
    }
  })

  test('and their item', async () => {
    const fulfillment = await fulfill('PENDING')
    succeeded(
      await a.rest.patch(line(fulfillment), {
        inventory_item_id: mugs.id,
        order_line_item_id: order.lines[1]?.id,
        quantity: 7,
      }),
    )
    expect([await here(), await stockOf(a, mugs, east)]).toEqual(['100/0', '100/7'])
  })

  test('one removed is released, one added is committed', async () => {
    const fulfillment = await fulfill('PENDING')
    await add(a, 'fulfillment_line_items', { fulfillment_id: fulfillment.id, inventory_item_id: mugs.id, quantity: 3 })
    succeeded(await a.rest.delete(line(fulfillment)))
    expect([await here(), await stockOf(a, mugs, east)]).toEqual(['100/0', '100/3'])
  })

  test('one that moves to a fulfillment elsewhere takes its commitment along', async () => {
    const fulfillment = await fulfill('PENDING')
    const other = await addFulfillment(a, { order, location: west, lines: [] })
    succeeded(await a.rest.patch(line(fulfillment), { fulfillment_id: other.id }))
    expect([await here(), await stockOf(a, shirts, west)]).toEqual(['100/0', '100/10'])
  })

  test('many in one statement: one entry each', async () => {
    const fulfillment = await addFulfillment(a, { order, location: east, lines: [] })
    succeeded(
      await a.rest.post(
        '/fulfillment_line_items',
        [shirts, mugs, shirts].map((item, n) => ({
          business_id: a.id,
          fulfillment_id: fulfillment.id,
          inventory_item_id: item.id,
          quantity: n + 1,
        })),
      ),
    )
    expect([await here(), await stockOf(a, mugs, east)]).toEqual(['100/4', '100/2'])
    expect(await ledgerOf(a, `cause_id=eq.${fulfillment.id}`)).toHaveLength(3)
    await move(fulfillment, { status: 'OPEN' })
    expect([await here(), await stockOf(a, mugs, east)]).toEqual(['96/0', '98/0'])
  })
})

describe('many fulfillments in one PATCH', () => {
  test('each ships once', async () => {
    const fulfillments = [await fulfill('PENDING', 3), await fulfill('NEW', 4), await fulfill('PENDING', 5)]
    expect(await here()).toBe('100/12')
    const ids = fulfillments.map(({ id }) => id).join()
    succeeded(await a.rest.patch(`/fulfillments?id=in.(${ids})`, { status: 'OPEN' }))
    expect(await here()).toBe('88/0')
    expect(await ledgerOf(a, `cause_id=in.(${ids})`)).toHaveLength(9)
    expect(await verify(a)).toEqual([])
  })

  test('one that may not: none does', async () => {
    const fulfillments = [await fulfill('PENDING', 3), await fulfill('CANCELED', 4)]
    const ids = fulfillments.map(({ id }) => id).join()
    expect(await a.rest.patch(`/fulfillments?id=in.(${ids})`, { status: 'OPEN' })).toMatchObject({ status: 409 })
    expect(await here()).toBe('100/3')
  })

  test('an upsert moves them as a PATCH does', async () => {
    const fulfillment = await fulfill('PENDING')
    succeeded(
      await a.rest.post(
        '/fulfillments',
        { id: fulfillment.id, business_id: a.id, order_id: order.id, location_id: east, status: 'OPEN' },
        { Prefer: 'resolution=merge-duplicates' },
      ),
    )
    expect(await here()).toBe('90/0')
  })
})

describe('a fulfillment whose step names a virtual location', () => {
  test('ships there too what its order holds there, also by a PATCH: 500/50 becomes 490/40', async () => {
    const virtual = await addLocation(a, { is_virtual: true })
    await stock(a, shirts, virtual, 500)
    const step = await addStep(a, [east], { virtual_location_id: virtual })
    const sold = await addOrder(a, { channel: await addChannel(a, virtual), lines: [{ item: shirts, quantity: 50 }] })
    const fulfillment = await addFulfillment(a, {
      order: sold,
      location: east,
      lines: [{ item: shirts, quantity: 10 }],
      supplier_id: step,
    })
    expect([await here(), await stockOf(a, shirts, virtual)]).toEqual(['100/10', '500/50'])
    await move(fulfillment, { status: 'OPEN' })
    expect([await here(), await stockOf(a, shirts, virtual)]).toEqual(['90/0', '490/40'])
    await move(fulfillment, { status: 'SUCCESS' })
    succeeded(await a.rest.patch(`/order_line_items?order_id=eq.${sold.id}`, { quantity: 30 }))
    expect(await stockOf(a, shirts, virtual)).toBe('490/20')
    expect(await verify(a)).toEqual([])
  })
})

describe('other businesses', () => {
  test('their orders, locations and items are refused, and their fulfillments are not there', async () => {
    const fulfillment = await fulfill('PENDING')
    const theirs = { business_id: b.id, order_id: order.id, location_id: east }
    expect((await b.rest.post('/fulfillments', theirs)).status).toBe(409)
    expect((await b.rest.patch(`/fulfillments?id=eq.${fulfillment.id}`, { status: 'OPEN' })).status).toBe(204)
    expect((await b.rest.delete(`/fulfillments?id=eq.${fulfillment.id}`)).status).toBe(204)
    expect(await here()).toBe('100/10')
  })
})
