import { describe, expect, test } from 'vitest'
import { addItem, addLocation, addOrder, stock, succeeded, verify } from '../builders.ts'
import { startLading } from '../harness/lading.ts'
import { addFulfillment, patchFulfillment, type Status, stockOf } from './scenario.ts'

const lading = await startLading()
const { a, sql } = lading

const prepare = async (quantity = 10) => {
  const [item, location] = await Promise.all([addItem(a), addLocation(a)])
  await stock(a, item, location, 1000)
  const order = await addOrder(a, { channel: null, lines: [{ item, quantity }] })
  const post = (fulfillment: { id: string }, units: number) =>
    a.rest.post('/fulfillment_line_items', {
      business_id: a.id,
      fulfillment_id: fulfillment.id,
      inventory_item_id: item.id,
      quantity: units,
    })
  const fulfill = (units: number, status: Status = 'PENDING') =>
    addFulfillment(a, { order, location, lines: units === 0 ? [] : [{ item, quantity: units }], status })
  return { item, location, order, post, fulfill, orderLine: `/order_line_items?id=eq.${order.lines[0]?.id}` }
}
const refused = {
  status: 400,
  body: { code: '23514', message: expect.stringContaining('fulfilled_never_exceeds_ordered') },
}

describe('what is fulfilled of an order line never exceeds what was ordered: a constraint refuses it', () => {
  test('one fulfillment with more than was ordered', async () => {
    const { fulfill, item, location, post } = await prepare()
    expect(await post(await fulfill(0), 11)).toMatchObject(refused)
    expect(await stockOf(a, item, location)).toBe('1000/0')
  })

  test('several fulfillments in sum, whatever their state', async () => {
    const { fulfill, item, location, post } = await prepare()
    await fulfill(4, 'OPEN')
    await fulfill(3, 'NEW')
    const last = await fulfill(0)
    expect(await post(last, 4)).toMatchObject(refused)
    succeeded(await post(last, 3))
    expect(await post(last, 1)).toMatchObject(refused)
    expect(await stockOf(a, item, location)).toBe('996/6')
  })

  test('a line that grows', async () => {
    const { fulfill, item, location } = await prepare()
    const { lines } = await fulfill(10)
    expect(await a.rest.patch(`/fulfillment_line_items?id=eq.${lines[0]?.id}`, { quantity: 11 })).toMatchObject(refused)
    expect(await stockOf(a, item, location)).toBe('1000/10')
  })

  test('CANCELED and BACKORDER ones do not count; a deleted one neither', async () => {
    const { fulfill, item, location, post } = await prepare()
    await fulfill(10, 'CANCELED')
    await fulfill(10, 'BACKORDER')
    const third = await fulfill(10)
    expect(await post(await fulfill(0), 1)).toMatchObject(refused)
    succeeded(await a.rest.delete(`/fulfillments?id=eq.${third.id}`))
    await fulfill(10)
    expect(await stockOf(a, item, location)).toBe('1000/10')
  })

  test('a BACKORDER one becomes NEW only if its units are not being fulfilled elsewhere', async () => {
    const { fulfill, item, location } = await prepare()
    const waiting = await fulfill(6, 'BACKORDER')
    const other = await fulfill(5)
    expect(await patchFulfillment(a, waiting, { status: 'NEW' })).toMatchObject(refused)
    succeeded(await patchFulfillment(a, other, { status: 'CANCELED' }))
    succeeded(await patchFulfillment(a, waiting, { status: 'NEW' }))
    expect(await stockOf(a, item, location)).toBe('1000/6')
  })

  test('an order line is not lowered below what is being fulfilled of it', async () => {
    const { fulfill, orderLine } = await prepare()
    const fulfillment = await fulfill(6)
    expect(await a.rest.patch(orderLine, { quantity: 5 })).toMatchObject(refused)
    succeeded(await a.rest.patch(orderLine, { quantity: 6 }))
    succeeded(await patchFulfillment(a, fulfillment, { status: 'CANCELED' }))
    succeeded(await a.rest.patch(orderLine, { quantity: 0 }))
  })

  test('even the owner of the database cannot get past it', async () => {
    const { fulfill, order } = await prepare()
    await fulfill(10)
    await expect(
      sql`update internal.order_line_progress set fulfilled = 11 where order_line_item_id = ${order.lines[0]?.id ?? ''}`,
    ).rejects.toThrow('fulfilled_never_exceeds_ordered')
  })
})

describe('at the same time', () => {
  test('20 fulfillments of one unit race for 7 units: 7 get one', async () => {
    const { fulfill, item, location, post } = await prepare(7)
    const fulfillments = await Promise.all(Array.from({ length: 20 }, () => fulfill(0)))
    const answers = await Promise.all(fulfillments.map((fulfillment) => post(fulfillment, 1)))
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(7)
    expect(answers.filter(({ status }) => status === 400)).toHaveLength(13)
    expect(await stockOf(a, item, location)).toBe('1000/7')
    expect(await verify(a)).toEqual([])
  })

  test('20 calls of create_fulfillment of 3 units race for 10: 3 are created', async () => {
    const { item, location, order } = await prepare(10)
    const answers = await Promise.all(
      Array.from({ length: 20 }, () =>
        a.rest.rpc('create_fulfillment', {
          fulfillment: { order_id: order.id, location_id: location, line_items: [{ sku: item.sku, quantity: 3 }] },
        }),
      ),
    )
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(3)
    expect(answers.filter(({ status }) => status === 400)).toHaveLength(17)
    expect(await stockOf(a, item, location)).toBe('1000/9')
  })

  test('back orders that become NEW together with a new fulfillment: never more than ordered', async () => {
    const { fulfill, item, location, post } = await prepare(10)
    const waiting: { id: string }[] = []
    for (let n = 0; n < 5; n++) waiting.push(await fulfill(6, 'BACKORDER'))
    const fresh = await fulfill(0)
    const answers = await Promise.all([
      ...waiting.map((fulfillment) => patchFulfillment(a, fulfillment, { status: 'NEW' })),
      post(fresh, 6),
    ])
    expect(answers.filter(({ status }) => status < 300)).toHaveLength(1)
    expect(await stockOf(a, item, location)).toBe('1000/6')
  })

  test('the order line is lowered while it is being fulfilled: one of the two is refused', async () => {
    for (let round = 0; round < 10; round++) {
      const { fulfill, orderLine, post } = await prepare(10)
      const fulfillment = await fulfill(0)
      const [lowered, fulfilled] = await Promise.all([a.rest.patch(orderLine, { quantity: 5 }), post(fulfillment, 8)])
      expect([lowered.status, fulfilled.status].filter((status) => status === 400)).toHaveLength(1)
    }
  })
})
