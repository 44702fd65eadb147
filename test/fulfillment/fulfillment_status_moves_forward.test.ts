import { describe, expect, test } from 'vitest'
import { addItem, addLocation, addOrder, stock, succeeded, verify } from '../builders.ts'
import { startLading } from '../harness/lading.ts'
import { addFulfillment, deleteFulfillment, patchFulfillment, type Status, statesOf, stockOf } from './scenario.ts'

const { a } = await startLading()

const states: Status[] = ['NEW', 'PENDING', 'OPEN', 'SUCCESS', 'CANCELED', 'BACKORDER']
const nextStates: Record<Status, Status[]> = {
  NEW: ['PENDING', 'OPEN', 'SUCCESS', 'CANCELED', 'BACKORDER'],
  PENDING: ['OPEN', 'SUCCESS', 'CANCELED', 'BACKORDER'],
  BACKORDER: ['NEW', 'CANCELED'],
  OPEN: ['SUCCESS'],
  SUCCESS: [],
  CANCELED: [],
}
const stocked: Record<Status, string> = {
  NEW: '100/10',
  PENDING: '100/10',
  OPEN: '90/0',
  SUCCESS: '90/0',
  CANCELED: '100/0',
  BACKORDER: '100/0',
}

const item = await addItem(a)
const lines = [{ item, quantity: 10 }]
const prepare = async (status: Status) => {
  const location = await addLocation(a)
  await stock(a, item, location, 100)
  const order = await addOrder(a, { channel: null, lines })
  return { location, order, fulfillment: await addFulfillment(a, { order, location, lines, status }) }
}

describe('states move only forward', () => {
  for (const from of states) {
    for (const to of states) {
      const allowed = from === to || nextStates[from].includes(to)
      test(`${from} → ${to}: ${allowed ? `${stocked[from]} becomes ${stocked[to]}` : '409, nothing changes'}`, async () => {
        const { fulfillment, location, order } = await prepare(from)
        expect(await stockOf(a, item, location)).toBe(stocked[from])
        const answer = await patchFulfillment(a, fulfillment, { status: to })
        expect(answer.status).toBe(allowed ? 200 : 409)
        const now = allowed ? to : from
        expect([await statesOf(a, order), await stockOf(a, item, location)]).toEqual([[`${now} 10`], stocked[now]])
      })
    }
  }

  test('ledger and quantities agree', async () => expect(await verify(a)).toEqual([]))
})

describe('what is fixed', () => {
  for (const status of states) {
    const isOver = ['OPEN', 'SUCCESS', 'CANCELED'].includes(status)
    test(`the location of a ${status} fulfillment ${isOver ? 'does not change: 409' : 'changes'}`, async () => {
      const { fulfillment } = await prepare(status)
      const answer = await patchFulfillment(a, fulfillment, { location_id: await addLocation(a) })
      expect(answer.status).toBe(isOver ? 409 : 200)
    })

    test(`the order of a ${status} fulfillment does not change: 409`, async () => {
      const { fulfillment } = await prepare(status)
      const other = await addOrder(a, { channel: null, lines })
      expect((await patchFulfillment(a, fulfillment, { order_id: other.id })).status).toBe(409)
    })

    const isShipped = status === 'OPEN' || status === 'SUCCESS'
    test(`a ${status} fulfillment is ${isShipped ? 'not deleted: 409' : 'deleted: 100/0'}`, async () => {
      const { fulfillment, location, order } = await prepare(status)
      expect((await deleteFulfillment(a, fulfillment)).status).toBe(isShipped ? 409 : 204)
      expect([await statesOf(a, order), await stockOf(a, item, location)]).toEqual(
        isShipped ? [[`${status} 10`], '90/0'] : [[], '100/0'],
      )
    })
  }

  test('an order with fulfillments is not deleted: 409; without them it is', async () => {
    const { fulfillment, order, location } = await prepare('PENDING')
    expect((await a.rest.delete(`/orders?id=eq.${order.id}`)).status).toBe(409)
    expect(await stockOf(a, item, location)).toBe('100/10')
    succeeded(await deleteFulfillment(a, fulfillment))
    succeeded(await a.rest.delete(`/orders?id=eq.${order.id}`))
  })

  test('shipped_at that was given stays', async () => {
    const { fulfillment } = await prepare('PENDING')
    const [row] = succeeded(
      await patchFulfillment(a, fulfillment, { status: 'OPEN', shipped_at: '2026-02-03T00:00:00Z' }),
    )
    expect(row?.shipped_at).toBe('2026-02-03T00:00:00+00:00')
    const [later] = succeeded(await patchFulfillment(a, fulfillment, { status: 'SUCCESS' }))
    expect(later?.shipped_at).toBe('2026-02-03T00:00:00+00:00')
  })

  test('twenty PATCHes at once to OPEN and CANCELED: one of them wins, booked once', async () => {
    const { fulfillment, location, order } = await prepare('PENDING')
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        patchFulfillment(a, fulfillment, { status: n % 2 === 0 ? 'OPEN' : 'CANCELED' }),
      ),
    )
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 409]))
    const [state] = await statesOf(a, order)
    expect(await stockOf(a, item, location)).toBe(state === 'OPEN 10' ? '90/0' : '100/0')
  })
})
