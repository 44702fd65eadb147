import { beforeEach, describe, expect, test } from 'vitest'
import { addItem, addLocation, addOrder, dryRun, type Item, stock, succeeded } from '../builders.ts'
import { startLading } from '../harness/lading.ts'
import {
  type Fulfillment,
  type FulfillmentLine,
  fulfillmentsOf,
  patchFulfillment,
  statesOf,
  stockOf,
} from './scenario.ts'
import { expectUnchanged } from './snapshot.ts'

const lading = await startLading()
const { a, b, sql } = lading

type Created = Fulfillment & { line_items: FulfillmentLine[] }

let shirts: Item
let mugs: Item
let location: string
let order: { id: string; lines: { id: string }[] }
beforeEach(async () => {
  ;[shirts, mugs, location] = await Promise.all([addItem(a), addItem(a), addLocation(a)])
  await Promise.all([shirts, mugs].map((item) => stock(a, item, location, 100)))
  order = await addOrder(a, {
    channel: null,
    lines: [
      { item: shirts, quantity: 10 },
      { item: mugs, quantity: 5 },
    ],
  })
})
const create = (fields: object = {}, headers?: Record<string, string>) =>
  a.rest.rpc<Created>(
    'create_fulfillment',
    {
      fulfillment: {
        order_id: order.id,
        location_id: location,
        line_items: [{ sku: shirts.sku, quantity: 10 }],
        ...fields,
      },
    },
    headers,
  )

describe('create_fulfillment', () => {
  test('by sku and by order line: NEW, in full with its lines, committed', async () => {
    const answer = succeeded(
      await create({
        additional_fields: { gift: 'yes' },
        shipping_method: 'ground',
        line_items: [
          { sku: shirts.sku, quantity: 4, additional_fields: { engraving: 'A' } },
          { order_line_item_id: order.lines[1]?.id, quantity: 5, price: 7 },
        ],
      }),
    )
    expect(answer).toMatchObject({
      order_id: order.id,
      business_id: a.id,
      location_id: location,
      status: 'NEW',
      shipping_method: 'ground',
      additional_fields: { gift: 'yes' },
      line_items: [
        {
          sku: shirts.sku,
          quantity: 4,
          inventory_item_id: shirts.id,
          order_line_item_id: order.lines[0]?.id,
          additional_fields: { engraving: 'A' },
        },
        { sku: mugs.sku, quantity: 5, price: 7, inventory_item_id: mugs.id, order_line_item_id: order.lines[1]?.id },
      ],
    })
    expect(Object.keys(answer)[0]).toBe('id')
    const [stored] = await fulfillmentsOf(a, order)
    const { fulfillment_line_items, ...columns } = stored ?? { fulfillment_line_items: [] }
    expect({ ...columns, line_items: fulfillment_line_items }).toEqual(answer)
    expect([await stockOf(a, shirts, location), await stockOf(a, mugs, location)]).toEqual(['100/4', '100/5'])
  })

  test('several of one order, until all is fulfilled', async () => {
    for (const quantity of [4, 6]) succeeded(await create({ line_items: [{ sku: shirts.sku, quantity }] }))
    expect([await statesOf(a, order), await stockOf(a, shirts, location)]).toEqual([['NEW 4', 'NEW 6'], '100/10'])
  })

  test('a dry run answers the same and leaves nothing', async () => {
    await expectUnchanged(sql, async () => {
      expect(await create({}, dryRun)).toMatchObject({ status: 200, body: { line_items: [{ quantity: 10 }] } })
    })
  })

  test('what it creates can be shipped by a PATCH', async () => {
    const { id } = succeeded(await create())
    succeeded(await patchFulfillment(a, { id }, { status: 'OPEN' }))
    expect(await stockOf(a, shirts, location)).toBe('90/0')
  })

  test('an operator creates for any business', async () => {
    const answer = await lading.operator.rpc('create_fulfillment', {
      fulfillment: { order_id: order.id, location_id: location, line_items: [{ sku: shirts.sku, quantity: 1 }] },
    })
    expect(answer).toMatchObject({ status: 200, body: { business_id: a.id } })
  })
})

describe('refused with 400 naming the path, nothing is stored', () => {
  const line = () => ({ sku: shirts.sku, quantity: 1 })
  const cases: [string, () => object, string][] = [
    ['no order_id', () => ({ order_id: undefined }), 'order_id: '],
    ['an order_id that is no uuid', () => ({ order_id: 'nonsense' }), 'order_id: '],
    ['an unknown order', () => ({ order_id: crypto.randomUUID() }), 'order_id: no order'],
    ['no location_id', () => ({ location_id: undefined }), 'location_id: '],
    ['an unknown location', () => ({ location_id: crypto.randomUUID() }), 'location_id: no location'],
    ['no line_items', () => ({ line_items: undefined }), 'line_items: '],
    ['line_items of another type', () => ({ line_items: {} }), 'line_items: '],
    ['no line', () => ({ line_items: [] }), 'line_items: '],
    ['a line that is no object', () => ({ line_items: [line(), 7] }), 'line_items[1]'],
    ['a line without sku and order_line_item_id', () => ({ line_items: [{ quantity: 1 }] }), 'line_items[0].sku: '],
    ['an unknown sku', () => ({ line_items: [line(), { sku: 'nonsense', quantity: 1 }] }), 'line_items[1].sku: '],
    [
      'an unknown order line',
      () => ({ line_items: [{ order_line_item_id: crypto.randomUUID(), quantity: 1 }] }),
      'line_items[0].order_line_item_id: ',
    ],
    ['no quantity', () => ({ line_items: [{ sku: shirts.sku }] }), 'line_items[0].quantity: '],
    ['quantity 0', () => ({ line_items: [{ sku: shirts.sku, quantity: 0 }] }), 'line_items[0].quantity: '],
    ['half a unit', () => ({ line_items: [{ sku: shirts.sku, quantity: 0.5 }] }), 'line_items[0].quantity: '],
    ['a quantity as text', () => ({ line_items: [{ sku: shirts.sku, quantity: 'many' }] }), 'line_items[0].quantity: '],
    ['another state than NEW', () => ({ status: 'OPEN' }), 'status: '],
    ['additional_fields that are no object', () => ({ additional_fields: [] }), 'additional_fields'],
    ['an unknown field', () => ({ nonsense: 1 }), 'nonsense'],
  ]
  for (const [what, fields, path] of cases) {
    test(what, async () => {
      await expectUnchanged(sql, async () => {
        expect(await create(fields())).toMatchObject({
          status: 400,
          body: { code: 'P0001', message: expect.stringContaining(path) },
        })
      })
    })
  }

  test('an item that the order does not have', async () => {
    const caps = await addItem(a)
    await expectUnchanged(sql, async () => {
      expect(await create({ line_items: [{ sku: caps.sku, quantity: 1 }] })).toMatchObject({
        status: 400,
        body: { message: `line_items[0].sku: the order has no line of "${caps.sku}"` },
      })
    })
  })

  test('a line of another order', async () => {
    const other = await addOrder(a, { channel: null, lines: [{ item: shirts, quantity: 1 }] })
    await expectUnchanged(sql, async () => {
      expect(await create({ line_items: [{ order_line_item_id: other.lines[0]?.id, quantity: 1 }] })).toMatchObject({
        status: 400,
        body: { message: expect.stringContaining('line_items[0].order_line_item_id') },
      })
    })
  })

  test('more than was ordered, also in sum with what is being fulfilled', async () => {
    await expectUnchanged(sql, async () => {
      expect(await create({ line_items: [{ sku: shirts.sku, quantity: 11 }] })).toMatchObject({ status: 400 })
      expect(await create({ line_items: [6, 5].map((quantity) => ({ sku: shirts.sku, quantity })) })).toMatchObject({
        status: 400,
      })
    })
    succeeded(await create({ line_items: [{ sku: shirts.sku, quantity: 6 }] }))
    await expectUnchanged(sql, async () => {
      expect(await create({ line_items: [{ sku: shirts.sku, quantity: 5 }] })).toMatchObject({ status: 400 })
    })
  })

  test('the order, location or line of another business: not there', async () => {
    await expectUnchanged(sql, async () => {
      expect(
        await b.rest.rpc('create_fulfillment', {
          fulfillment: { order_id: order.id, location_id: location, line_items: [{ sku: shirts.sku, quantity: 1 }] },
        }),
      ).toMatchObject({ status: 400, body: { message: expect.stringContaining('order_id: no order') } })
    })
    const theirs = await addLocation(b)
    await expectUnchanged(sql, async () => {
      expect(await create({ location_id: theirs })).toMatchObject({ status: 400 })
      expect(await create({ business_id: b.id })).toMatchObject({ status: 400 })
    })
  })
})

describe('an order with two lines of one SKU, 4 and 6', () => {
  for (const quantities of [[6, 4], [10], [3, 3, 4]]) {
    test(`sku lines of ${quantities.join(' and ')} fulfill both`, async () => {
      const lines = [4, 6].map((quantity) => ({ item: shirts, quantity }))
      const twice = await addOrder(a, { channel: null, lines })
      const line_items = quantities.map((quantity) => ({ sku: shirts.sku, quantity }))
      const created = succeeded(await create({ order_id: twice.id, line_items }))
      const fulfilled = twice.lines.map(({ id }) =>
        created.line_items
          .filter(({ order_line_item_id }) => order_line_item_id === id)
          .reduce((sum, { quantity }) => sum + quantity, 0),
      )
      expect([fulfilled, await stockOf(a, shirts, location)]).toEqual([[4, 6], '100/10'])
    })
  }
})
