import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  addChannel,
  addItem,
  addLocation,
  addOrder,
  addShipment,
  adjust,
  completeReceipt,
  type Item,
  patchShipment,
  type Shipment,
  succeeded,
  upsertReceipts,
} from '../builders.ts'
import { startLading } from '../harness/lading.ts'
import { expectLedgerToHold } from './ledger_invariants.ts'
import { emptyYard, type Status, type Yard } from './yard_model.ts'

const lading = await startLading()
const { a } = lading

/** One step of a business; numbers choose among what there is, modulo its count. */
type Step =
  | { do: 'adjust'; status: Status; operation: 'ADJUST' | 'SET'; item: number; place: number; quantity: number }
  | { do: 'ship new'; from: boolean; to: boolean; item: number; quantity: number; extra: number }
  | { do: 'move shipment'; which: number; status: 'shipped' | 'closed' | 'canceled' }
  | { do: 'delete shipment'; which: number }
  | { do: 'receive'; which: number; item: number; quantity: number; broken: number; complete: boolean }
  | { do: 'complete'; which: number }
  | { do: 'delete receipt'; which: number }
  | { do: 'order'; item: number; quantity: number }
  | { do: 'order line'; which: number; quantity: number }
  | { do: 'order status'; which: number; status: 'open' | 'in_progress' | 'hold' | 'closed' | 'canceled' }
  | { do: 'delete order'; which: number }

const which = fc.nat(7)
const item = fc.nat(1)
const units = fc.integer({ min: 1, max: 9 })
const moves = fc.oneof(
  fc.record({
    do: fc.constant('ship new' as const),
    from: fc.boolean(),
    to: fc.boolean(),
    item,
    quantity: units,
    extra: fc.nat(4),
  }),
  fc.record({
    do: fc.constant('move shipment' as const),
    which,
    status: fc.constantFrom('shipped' as const, 'shipped' as const, 'closed' as const, 'canceled' as const),
  }),
  fc.record({ do: fc.constant('delete shipment' as const), which }),
  fc.record({
    do: fc.constant('receive' as const),
    which,
    item,
    quantity: units,
    broken: fc.nat(3),
    complete: fc.boolean(),
  }),
  fc.record({ do: fc.constant('complete' as const), which }),
  fc.record({ do: fc.constant('delete receipt' as const), which }),
  fc.record({ do: fc.constant('order' as const), item, quantity: units }),
  fc.record({ do: fc.constant('order line' as const), which, quantity: fc.nat(9) }),
  fc.record({
    do: fc.constant('order status' as const),
    which,
    status: fc.constantFrom(
      'open' as const,
      'in_progress' as const,
      'hold' as const,
      'closed' as const,
      'canceled' as const,
    ),
  }),
  fc.record({ do: fc.constant('delete order' as const), which }),
)
const adjustment = fc.record({
  do: fc.constant('adjust' as const),
  status: fc.constantFrom<Status>('available_to_sell', 'committed', 'committed', 'incoming', 'incoming', 'unavailable'),
  operation: fc.constantFrom('ADJUST' as const, 'SET' as const),
  item,
  place: fc.nat(2),
  quantity: fc.integer({ min: -9, max: 20 }),
})
const step: fc.Arbitrary<Step> = fc.oneof({ weight: 8, arbitrary: moves }, { weight: 2, arbitrary: adjustment })

interface Places {
  items: [Item, Item]
  places: [string, string, string]
  channel: { id: string }
}

const newPlaces = async (): Promise<Places> => {
  const places: Places['places'] = [await addLocation(a), await addLocation(a), await addLocation(a)]
  return { items: [await addItem(a), await addItem(a)], places, channel: await addChannel(a, places[2]) }
}

interface Known {
  shipments: Shipment[]
  receipts: { id: string; shipment: Shipment }[]
  orders: { id: string; lines: { id: string }[] }[]
}

const pick = <Kind>(list: Kind[], index: number): Kind | undefined => list[index % Math.max(1, list.length)]

/** Does the step over HTTP and returns the status of its answer; undefined when there was nothing to do it to. */
const perform = async (known: Known, { items, places, channel }: Places, given: Step): Promise<number | undefined> => {
  switch (given.do) {
    case 'adjust': {
      const { status: inventory_status, operation, quantity } = given
      const sku = items[given.item]?.sku ?? ''
      const location_id = places[given.place] ?? ''
      return (await adjust(a, [{ sku, location_id, inventory_status, operation, quantity }])).status
    }
    case 'ship new': {
      const lines = [{ item: items[given.item] ?? items[0], quantity: given.quantity }]
      if (given.extra > 0) lines.push({ item: items[1 - given.item] ?? items[1], quantity: given.extra })
      known.shipments.push(
        await addShipment(a, { from: given.from ? places[0] : null, to: given.to ? places[1] : null, lines }),
      )
      return 201
    }
    case 'move shipment': {
      const shipment = pick(known.shipments, given.which)
      return shipment && (await patchShipment(a, shipment, { status: given.status })).status
    }
    case 'delete shipment': {
      const shipment = pick(known.shipments, given.which)
      return shipment && (await a.rest.delete(`/shipments?id=eq.${shipment.id}`)).status
    }
    case 'receive': {
      const shipment = pick(known.shipments, given.which)
      if (shipment === undefined) return undefined
      const sku = items[given.item]?.sku
      const answer = await upsertReceipts(a, shipment, [
        {
          ...(given.complete ? { completed_time: '2026-03-02T10:00:00Z' } : {}),
          items: [
            { sku, quantity: given.quantity },
            ...(given.broken > 0 ? [{ sku, quantity: given.broken, available: false }] : []),
          ],
        },
      ])
      const receipt = answer.status === 200 ? answer.body.receipts[0] : undefined
      if (receipt !== undefined) known.receipts.push({ id: receipt.id, shipment })
      return answer.status
    }
    case 'complete': {
      const receipt = pick(known.receipts, given.which)
      if (receipt === undefined) return undefined
      const answer =
        given.which % 2 === 0
          ? await completeReceipt(a, receipt)
          : await upsertReceipts(a, receipt.shipment, [{ id: receipt.id, completed_time: '2026-03-02T10:00:00Z' }])
      return answer.status === 200 ? 204 : answer.status
    }
    case 'delete receipt': {
      const receipt = pick(known.receipts, given.which)
      if (receipt === undefined) return undefined
      const { status } = await a.rest.delete(`/shipment_receipts?id=eq.${receipt.id}`)
      if (status === 204) known.receipts = known.receipts.filter(({ id }) => id !== receipt.id)
      return status
    }
    case 'order': {
      const lines = [{ item: items[given.item] ?? items[0], quantity: given.quantity }]
      known.orders.push(await addOrder(a, { channel, lines }))
      return 201
    }
    case 'order line': {
      const order = pick(known.orders, given.which)
      const { quantity } = given
      return order && (await a.rest.patch(`/order_line_items?id=eq.${order.lines[0]?.id}`, { quantity })).status
    }
    case 'order status': {
      const order = pick(known.orders, given.which)
      return order && (await a.rest.patch(`/orders?id=eq.${order.id}`, { status: given.status })).status
    }
    case 'delete order': {
      const order = pick(known.orders, given.which)
      return order && (await a.rest.delete(`/orders?id=eq.${order.id}`)).status
    }
  }
}

/** What the model says of the step: the status of its answer, its quantities changed to match. */
const predict = (yard: Yard, given: Step): number | undefined => {
  switch (given.do) {
    case 'adjust':
      return yard.adjust(given.place, given.item, given.status, given.operation, given.quantity)
    case 'ship new': {
      const lines: [number, number] = [0, 0]
      lines[given.item === 0 ? 0 : 1] += given.quantity
      lines[given.item === 0 ? 1 : 0] += given.extra
      return yard.addShipment(given.from ? 0 : null, given.to ? 1 : null, lines)
    }
    case 'move shipment':
      return yard.moveShipment(given.which, given.status)
    case 'delete shipment':
      return yard.deleteShipment(given.which)
    case 'receive':
      return yard.receive(given.which, given.item, given.quantity, given.broken, given.complete)
    case 'complete':
      return yard.complete(given.which)
    case 'delete receipt':
      return yard.deleteReceipt(given.which)
    case 'order':
      return yard.addOrder(given.item, given.quantity)
    case 'order line':
      return yard.setOrderLine(given.which, given.quantity)
    case 'order status':
      return yard.setOrderStatus(given.which, given.status)
    case 'delete order':
      return yard.deleteOrder(given.which)
  }
}

const bounded = { interruptAfterTimeLimit: 4_000, markInterruptAsFailure: false, numRuns: 100 }

describe('quantities follow the ledger', () => {
  test('any sequence of steps leaves the quantities that the rules say', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 30, size: 'max' }), async (steps) => {
        const places = await newPlaces()
        const known: Known = { shipments: [], receipts: [], orders: [] }
        const yard = emptyYard()
        for (const given of steps) {
          const expected = predict(yard, given)
          const told = JSON.stringify(given)
          expect(await perform(known, places, given), told).toBe(expected)
        }
        const rows = succeeded(
          await a.rest.get<({ inventory_item_id: string; location_id: string } & Record<Status, number>)[]>(
            `/inventory_quantities?location_id=in.(${places.places.join()})`,
          ),
        )
        for (const [place, location] of places.places.entries()) {
          for (const [index, { id }] of places.items.entries()) {
            const row = rows.find((one) => one.location_id === location && one.inventory_item_id === id)
            for (const [status, quantity] of Object.entries(yard.quantitiesAt(place, index))) {
              expect(row?.[status as Status] ?? 0, `${status} of item ${index} at place ${place}`).toBe(quantity)
            }
          }
        }
        await expectLedgerToHold(lading.sql, a.id)
      }),
      bounded,
    )
  }, 60_000)

  test('steps in parallel leave ledger, quantities and records in agreement', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(moves, { minLength: 4, maxLength: 8, size: 'max' }),
        fc.array(fc.array(moves, { minLength: 4, maxLength: 10, size: 'max' }), { minLength: 2, maxLength: 4 }),
        async (first, rounds) => {
          const places = await newPlaces()
          const known: Known = { shipments: [], receipts: [], orders: [] }
          for (const given of first) await perform(known, places, given)
          for (const round of rounds) {
            const statuses = await Promise.all(round.map((given) => perform(known, places, given)))
            for (const [n, status] of statuses.entries()) {
              expect([undefined, 200, 201, 204, 400, 409], JSON.stringify(round[n])).toContain(status)
            }
          }
          await expectLedgerToHold(lading.sql, a.id)
        },
      ),
      bounded,
    )
  }, 60_000)
})
