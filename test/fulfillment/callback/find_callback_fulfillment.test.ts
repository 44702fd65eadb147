import { beforeEach, describe, expect, test } from 'vitest'
import { addItem, addLocation, addOrder, distinct, type Item, type Line, stock } from '../../builders.ts'
import { startLading } from '../../harness/lading.ts'
import { applied, expectRefused, type PostedFulfillment, postCallback } from '../callback.ts'
import { addFulfillment, addPending, addStep, fulfillmentsOf, named, type Status, stockOf } from '../scenario.ts'
import { expectUnchanged } from '../snapshot.ts'

const lading = await startLading()
const { a, sql } = lading

let shirts: Item
let mugs: Item
let east: string
let west: string
let step: string
let order: { id: string; lines: { id: string }[] }
beforeEach(async () => {
  ;[shirts, mugs, east, west] = await Promise.all([addItem(a), addItem(a), addLocation(a), addLocation(a)])
  step = await addStep(a, [east, west])
  order = await addOrder(a, {
    channel: null,
    lines: [
      { item: shirts, quantity: 100 },
      { item: mugs, quantity: 100 },
    ],
  })
  await Promise.all([shirts, mugs].flatMap((item) => [east, west].map((location) => stock(a, item, location, 100))))
})

const fulfill = (lines: Line[], location = east, warehouse_order_id?: string, status: Status = 'PENDING') =>
  addFulfillment(a, {
    order,
    location,
    lines,
    status,
    additional_fields: warehouse_order_id === undefined ? null : { warehouse_order_id },
  })
const post = (...fulfillments: Partial<PostedFulfillment>[]) =>
  postCallback(lading, step, {
    orderUpdate: {
      id: order.id,
      fulfillments: fulfillments.map((posted) => ({ locationId: east, status: 'OPEN', ...posted })),
    },
  })
const statusOf = async ({ id }: { id: string }) =>
  (await fulfillmentsOf(a, order)).find((fulfillment) => fulfillment.id === id)?.status
const of = (item: Item, quantity: number) => ({ sku: item.sku, quantity })

describe('which fulfillment a posted one is about', () => {
  test('the one with its id, also when others fit as well', async () => {
    const lines = [{ item: shirts, quantity: 5 }]
    const [one, two, three] = [await fulfill(lines), await fulfill(lines), await fulfill(lines)]
    expect(await stockOf(a, shirts, east)).toBe('100/15')
    applied(await post({ id: two.id, lineItems: [of(shirts, 5)] }))
    expect([await statusOf(one), await statusOf(two), await statusOf(three)]).toEqual(['PENDING', 'OPEN', 'PENDING'])
    expect(await stockOf(a, shirts, east)).toBe('95/10')
  })

  test('the id goes before warehouse_order_id', async () => {
    const lines = [{ item: shirts, quantity: 5 }]
    const [one, two] = [await fulfill(lines, east, distinct('WO')), await fulfill(lines, east, distinct('WO'))]
    const [, { additional_fields }] = (await fulfillmentsOf(a, order)) as [unknown, { additional_fields: object }]
    applied(await post({ id: one.id, lineItems: [of(shirts, 5)], additionalFields: named({ ...additional_fields }) }))
    expect([await statusOf(one), await statusOf(two)]).toEqual(['OPEN', 'PENDING'])
  })

  test("an id that is not ours is the warehouse's own: found otherwise", async () => {
    const given = await fulfill([{ item: shirts, quantity: 5 }])
    applied(await post({ id: 'their own 4711', lineItems: [of(shirts, 5)] }))
    expect(await statusOf(given)).toBe('OPEN')
  })

  test('the id of a fulfillment of another order, or at another location, is never taken for this one: 400', async () => {
    await fulfill([{ item: shirts, quantity: 5 }])
    const elsewhere = await fulfill([{ item: shirts, quantity: 5 }], west)
    const other = await addPending(lading)
    await expectUnchanged(sql, async () => {
      expectRefused(await post({ id: elsewhere.id, lineItems: [of(shirts, 5)] }), 'fulfillments[0]')
      expectRefused(await post({ id: other.fulfillment.id, lineItems: [of(shirts, 5)] }), 'fulfillments[0]')
    })
  })

  test('else the one with its warehouse_order_id', async () => {
    const lines = [{ item: shirts, quantity: 5 }]
    const [first, second] = [distinct('WO'), distinct('WO')]
    const [one, two] = [await fulfill(lines, east, first), await fulfill(lines, east, second)]
    applied(await post({ lineItems: [of(shirts, 5)], additionalFields: named({ warehouse_order_id: second }) }))
    expect([await statusOf(one), await statusOf(two)]).toEqual(['PENDING', 'OPEN'])
  })

  test('the one with the warehouse_order_id that has shipped, although another one is pending', async () => {
    const lines = [{ item: shirts, quantity: 5 }]
    const [first, second] = [distinct('WO'), distinct('WO')]
    const shipped = await fulfill(lines, east, first, 'OPEN')
    const pending = await fulfill(lines, east, second)
    applied(
      await post({
        lineItems: [of(shirts, 5)],
        trackingNumber: 'T1',
        additionalFields: named({ warehouse_order_id: first }),
      }),
    )
    expect([await statusOf(shipped), await statusOf(pending)]).toEqual(['OPEN', 'PENDING'])
    expect((await fulfillmentsOf(a, order)).map(({ tracking_number }) => tracking_number)).toEqual(['T1', null])
    expect(await stockOf(a, shirts, east)).toBe('95/5')
  })

  test('of those with the warehouse_order_id, the one at the location', async () => {
    const lines = [{ item: shirts, quantity: 5 }]
    const warehouseOrderId = distinct('WO')
    const [here, there] = [await fulfill(lines, east, warehouseOrderId), await fulfill(lines, west, warehouseOrderId)]
    applied(
      await post({
        locationId: west,
        lineItems: [of(shirts, 5)],
        additionalFields: named({ warehouse_order_id: warehouseOrderId }),
      }),
    )
    expect([await statusOf(here), await statusOf(there)]).toEqual(['PENDING', 'OPEN'])
    expect([await stockOf(a, shirts, east), await stockOf(a, shirts, west)]).toEqual(['100/5', '95/0'])
  })

  test('a new warehouse_order_id does not choose between two that fit', async () => {
    const lines = [{ item: shirts, quantity: 5 }]
    await fulfill(lines, east, distinct('WO'))
    await fulfill(lines, east)
    await expectUnchanged(sql, async () => {
      expectRefused(
        await post({ lineItems: [of(shirts, 5)], additionalFields: named({ warehouse_order_id: 'new' }) }),
        'several fulfillments',
      )
    })
  })

  test('else the only one at the location', async () => {
    const [here, there] = [
      await fulfill([{ item: shirts, quantity: 5 }]),
      await fulfill([{ item: shirts, quantity: 5 }], west),
    ]
    applied(await post({ locationId: west, lineItems: [of(shirts, 5)] }))
    expect([await statusOf(here), await statusOf(there)]).toEqual(['PENDING', 'OPEN'])
  })

  test('the location by its legacy_id as text', async () => {
    const legacyId = 4_711
    const north = await addLocation(a, { legacy_id: legacyId })
    await stock(a, shirts, north, 100)
    step = await addStep(a, [String(legacyId)])
    const given = await fulfill([{ item: shirts, quantity: 5 }], north)
    applied(await post({ locationId: String(legacyId), lineItems: [of(shirts, 5)] }))
    expect([await statusOf(given), await stockOf(a, shirts, north)]).toEqual(['OPEN', '95/0'])
    const by_id = await fulfill([{ item: shirts, quantity: 4 }], north)
    applied(await post({ locationId: north, lineItems: [of(shirts, 4)] }))
    expect([await statusOf(by_id), await stockOf(a, shirts, north)]).toEqual(['OPEN', '91/0'])
  })

  test('else the one whose lines cover those of the message: other items, enough units', async () => {
    const [some, many] = [await fulfill([{ item: shirts, quantity: 5 }]), await fulfill([{ item: mugs, quantity: 8 }])]
    applied(await post({ lineItems: [of(mugs, 8)] }))
    expect([await statusOf(some), await statusOf(many)]).toEqual(['PENDING', 'OPEN'])
    const larger = await fulfill([{ item: shirts, quantity: 9 }])
    applied(await post({ lineItems: [of(shirts, 7), of(shirts, 2)] }))
    expect([await statusOf(some), await statusOf(larger)]).toEqual(['PENDING', 'OPEN'])
  })

  test('lines named by id choose their fulfillment', async () => {
    const lines = [{ item: shirts, quantity: 5 }]
    const [one, two] = [await fulfill(lines), await fulfill(lines)]
    applied(await post({ lineItems: [{ id: two.lines[0]?.id ?? '', quantity: 5 }] }))
    expect([await statusOf(one), await statusOf(two)]).toEqual(['PENDING', 'OPEN'])
  })

  test('NEW and PENDING before OPEN: the shipped one of the same lines is left alone', async () => {
    const lines = [{ item: shirts, quantity: 5 }]
    const shipped = await fulfill(lines, east, undefined, 'OPEN')
    const fresh = await fulfill(lines, east, undefined, 'NEW')
    applied(await post({ lineItems: [of(shirts, 5)] }))
    expect([await statusOf(shipped), await statusOf(fresh)]).toEqual(['OPEN', 'OPEN'])
    expect(await stockOf(a, shirts, east)).toBe('90/0')
  })

  test('a tie: 400, nothing changes', async () => {
    const lines = [{ item: shirts, quantity: 5 }]
    await fulfill(lines)
    await fulfill(lines)
    await expectUnchanged(sql, async () => {
      expectRefused(await post({ lineItems: [of(shirts, 5)] }), 'fulfillments[0]')
    })
  })

  test('a tie among those with the same warehouse_order_id: 400', async () => {
    const lines = [{ item: shirts, quantity: 5 }]
    const warehouseOrderId = distinct('WO')
    await fulfill(lines, east, warehouseOrderId)
    await fulfill(lines, east, warehouseOrderId)
    await expectUnchanged(sql, async () => {
      expectRefused(
        await post({ lineItems: [of(shirts, 5)], additionalFields: named({ warehouse_order_id: warehouseOrderId }) }),
        'fulfillments[0]',
      )
    })
  })

  test('none at the location, or only CANCELED and BACKORDER ones: 400', async () => {
    const lines = [{ item: shirts, quantity: 5 }]
    await fulfill(lines, west)
    await expectUnchanged(sql, async () => expectRefused(await post({ lineItems: [of(shirts, 5)] }), 'locationId'))
    await fulfill(lines, east, undefined, 'CANCELED')
    await fulfill(lines, east, undefined, 'BACKORDER')
    await expectUnchanged(sql, async () => expectRefused(await post({ lineItems: [of(shirts, 5)] }), 'locationId'))
  })
})

describe('several fulfillments in one message', () => {
  test('each is applied to its own', async () => {
    const one = await fulfill([{ item: shirts, quantity: 5 }])
    const two = await fulfill([{ item: mugs, quantity: 8 }], west)
    const three = await fulfill([{ item: mugs, quantity: 3 }])
    expect(
      applied(
        await post(
          { lineItems: [of(shirts, 5)] },
          { locationId: west, status: 'CANCELED', lineItems: [of(mugs, 8)] },
          { status: 'SUCCESS', lineItems: [of(mugs, 2)] },
        ),
      ),
    ).toEqual({ inventoryAdjustmentCount: 2 + 1 + 3, inventorySetCount: 0, orderActivityCount: 1, orderUpdateCount: 1 })
    expect([await statusOf(one), await statusOf(two), await statusOf(three)]).toEqual(['OPEN', 'CANCELED', 'SUCCESS'])
    expect([await stockOf(a, shirts, east), await stockOf(a, mugs, east), await stockOf(a, mugs, west)]).toEqual([
      '95/0',
      '98/0',
      '100/0',
    ])
  })

  test('one that does not fit refuses all of them, naming its path', async () => {
    await fulfill([{ item: shirts, quantity: 5 }])
    await fulfill([{ item: mugs, quantity: 8 }], west)
    await expectUnchanged(sql, async () => {
      expectRefused(
        await post({ lineItems: [of(shirts, 5)] }, { locationId: west, lineItems: [of(mugs, 9)] }),
        'orderUpdate.fulfillments[1].lineItems[0].quantity',
      )
    })
  })
})
