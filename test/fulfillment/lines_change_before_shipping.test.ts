import { describe, expect, test } from 'vitest'
import { addItem, addLocation, addOrder, stock, succeeded } from '../builders.ts'
import { startLading } from '../harness/lading.ts'
import { addFulfillment, patchFulfillment, type Status, statesOf, stockOf } from './scenario.ts'

const { a } = await startLading()
const item = await addItem(a)

const prepare = async (status: Status) => {
  const location = await addLocation(a)
  await stock(a, item, location, 100)
  const order = await addOrder(a, { channel: null, lines: [{ item, quantity: 50 }] })
  const fulfillment = await addFulfillment(a, { order, location, lines: [{ item, quantity: 10 }], status })
  return { location, order, fulfillment, line: `/fulfillment_line_items?id=eq.${fulfillment.lines[0]?.id}` }
}

describe('lines of a fulfillment change only while it is NEW or PENDING', () => {
  for (const status of ['OPEN', 'SUCCESS', 'CANCELED', 'BACKORDER'] as const) {
    test(`${status}: none is added, changed, moved or removed: 409, nothing changes`, async () => {
      const { fulfillment, line, location, order } = await prepare(status)
      const before = await stockOf(a, item, location)
      const pending = await addFulfillment(a, { order, location: await addLocation(a), lines: [{ item, quantity: 5 }] })
      const added = { business_id: a.id, fulfillment_id: fulfillment.id, inventory_item_id: item.id, quantity: 1 }
      for (const answer of [
        await a.rest.post('/fulfillment_line_items', added),
        await a.rest.patch(line, { quantity: 9 }),
        await a.rest.patch(line, { quantity: 11 }),
        await a.rest.patch(line, { fulfillment_id: pending.id }),
        await a.rest.patch(`/fulfillment_line_items?id=eq.${pending.lines[0]?.id}`, { fulfillment_id: fulfillment.id }),
        await a.rest.delete(line),
      ]) {
        expect(answer).toMatchObject({ status: 409, body: { message: expect.stringContaining(status) } })
      }
      expect(await stockOf(a, item, location)).toBe(before)
      expect(await statesOf(a, order)).toEqual([`${status} 10`, 'PENDING 5'].sort())
    })

    test(`${status}: what does not count may change`, async () => {
      const { line } = await prepare(status)
      succeeded(await a.rest.patch(line, { vendor: 'Acme', additional_fields: { lot: 'L1' }, quantity: 10 }))
    })
  }

  for (const status of ['NEW', 'PENDING'] as const) {
    test(`${status}: they do`, async () => {
      const { line, location } = await prepare(status)
      succeeded(await a.rest.patch(line, { quantity: 9 }))
      expect(await stockOf(a, item, location)).toBe('100/9')
      succeeded(await a.rest.delete(line))
      expect(await stockOf(a, item, location)).toBe('100/0')
    })
  }

  test('a quantity below 1 is refused: 400', async () => {
    const { line } = await prepare('PENDING')
    for (const quantity of [0, -1]) expect((await a.rest.patch(line, { quantity })).status).toBe(400)
  })

  test('a line that changes while the fulfillment ships: the units that ship are those of the line', async () => {
    for (let round = 0; round < 10; round++) {
      const { fulfillment, line, location, order } = await prepare('PENDING')
      const [changed, shipped] = await Promise.all([
        a.rest.patch(line, { quantity: 20 }),
        patchFulfillment(a, fulfillment, { status: 'OPEN' }),
      ])
      expect(shipped.status).toBe(200)
      expect([204, 409]).toContain(changed.status)
      const quantity = changed.status === 204 ? 20 : 10
      expect([await statesOf(a, order), await stockOf(a, item, location)]).toEqual([
        [`OPEN ${quantity}`],
        `${100 - quantity}/0`,
      ])
    }
  })
})
