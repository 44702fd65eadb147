import { beforeEach, describe, expect, test } from 'vitest'
import { add, addItem, addLocation, addOrder, type Item, stock } from '../../builders.ts'
import { startLading } from '../../harness/lading.ts'
import { applied, type CallbackAnswer, expectRefused, type PostedLine, postCallback } from '../callback.ts'
import { addFulfillment, addStep, fulfillmentsOf, statesOf, stockOf } from '../scenario.ts'
import { expectUnchanged } from '../snapshot.ts'

const lading = await startLading()
const { a, sql } = lading

let shirts: Item
let mugs: Item
let location: string
let order: { id: string; lines: { id: string }[] }
let fulfillment: { id: string; lines: { id: string }[] }
let post: (lineItems: unknown[], options?: object) => Promise<CallbackAnswer>
beforeEach(async () => {
  ;[shirts, mugs, location] = await Promise.all([addItem(a), addItem(a), addLocation(a)])
  const step = await addStep(a, [location])
  await Promise.all([shirts, mugs].map((item) => stock(a, item, location, 100)))
  const lines = [
    { item: shirts, quantity: 6 },
    { item: mugs, quantity: 8 },
    { item: shirts, quantity: 4 },
  ]
  order = await addOrder(a, { channel: null, lines })
  fulfillment = await addFulfillment(a, { order, location, lines: [] })
  for (const [n, { item, quantity }] of lines.entries()) {
    fulfillment.lines.push(
      await add(a, 'fulfillment_line_items', {
        fulfillment_id: fulfillment.id,
        order_line_item_id: order.lines[n]?.id,
        inventory_item_id: item.id,
        quantity,
      }),
    )
  }
  post = (lineItems, fulfillmentOptions) =>
    postCallback(lading, step, {
      orderUpdate: { id: order.id, fulfillments: [{ locationId: location, status: 'OPEN', lineItems }] },
      fulfillmentOptions,
    })
})

const numbers = async () => `${await stockOf(a, shirts, location)} ${await stockOf(a, mugs, location)}`
const whole = () => [
  { sku: shirts.sku, quantity: 10 },
  { sku: mugs.sku, quantity: 8 },
]
const id = (lines: { id: string }[], n: number) => lines[n]?.id ?? ''

describe('lines are matched', () => {
  test('by sku: several lines of one SKU take its units together', async () => {
    expect(await numbers()).toBe('100/10 100/8')
    applied(await post(whole()))
    expect([await statesOf(a, order), await numbers()]).toEqual([['OPEN 6+8+4'], '90/0 92/0'])
  })

  test('by sku: lines of one SKU in the message are summed first', async () => {
    applied(await post([...whole().slice(1), ...[3, 3, 3, 1].map((quantity) => ({ sku: shirts.sku, quantity }))]))
    expect([await statesOf(a, order), await numbers()]).toEqual([['OPEN 6+8+4'], '90/0 92/0'])
  })

  for (const [what, name] of [
    ['our id', () => fulfillment.lines],
    ["the order line's id", () => order.lines],
  ] as [string, () => { id: string }[]][]) {
    test(`by ${what}`, async () => {
      applied(
        await post([
          { id: id(name(), 1), quantity: 8 },
          { id: id(name(), 0), quantity: 6 },
          { id: id(name(), 2), quantity: 4 },
        ]),
      )
      expect([await statesOf(a, order), await numbers()]).toEqual([['OPEN 6+8+4'], '90/0 92/0'])
    })

    test(`by ${what} a single line of a SKU is told apart, whatever sku says`, async () => {
      applied(await post([{ id: id(name(), 2), sku: mugs.sku, quantity: 4 }]))
      expect([await statesOf(a, order), await numbers()]).toEqual([['BACKORDER 6+8', 'OPEN 4'], '96/0 100/0'])
      const shipped = (await fulfillmentsOf(a, order)).find(({ status }) => status === 'OPEN')
      expect(shipped?.fulfillment_line_items[0]?.order_line_item_id).toBe(id(order.lines, 2))
    })

    test(`by ${what} in capitals`, async () => {
      applied(await post([{ id: id(name(), 1).toUpperCase(), quantity: 8 }], { partialShipments: true }))
      expect(await numbers()).toBe('100/10 92/0')
    })
  }

  test('by id and by sku in one message: what is named by id is taken first', async () => {
    applied(
      await post(
        [
          { sku: shirts.sku, quantity: 5 },
          { id: id(fulfillment.lines, 0), quantity: 5 },
        ],
        { partialShipments: true },
      ),
    )
    expect([await statesOf(a, order), await numbers()]).toEqual([['OPEN 6+4', 'PENDING 8'], '90/0 100/8'])
  })

  test('an id that is not ours goes by sku', async () => {
    applied(await post([{ id: 'their line 1', sku: mugs.sku, quantity: 8 }], { partialShipments: true }))
    expect(await numbers()).toBe('100/10 92/0')
  })

  test('short of a SKU in several lines: the first are filled', async () => {
    applied(await post([{ sku: shirts.sku, quantity: 7 }], { partialShipments: true }))
    expect([await statesOf(a, order), await numbers()]).toEqual([['OPEN 6+1', 'PENDING 8+3'], '93/3 100/8'])
  })

  test('a quantity written 10.0 is 10', async () => {
    const text = JSON.stringify({
      orderUpdate: {
        id: order.id,
        fulfillments: [{ locationId: location, status: 'OPEN', lineItems: whole() }],
      },
    }).replace('"quantity":10', '"quantity":10.0')
    const [step] = (await a.rest.get<{ id: string }[]>('/process_shipments_steps?order=id.desc&limit=1')).body
    applied(await postCallback(lading, step?.id ?? '', text))
    expect(await numbers()).toBe('90/0 92/0')
  })
})

describe('refused with 400, the path first, nothing changes', () => {
  const cases: [string, () => (PostedLine | object)[], string][] = [
    ['an unknown SKU', () => [...whole(), { sku: 'nonsense', quantity: 1 }], 'lineItems[2].sku: '],
    ['an unknown id', () => [{ id: crypto.randomUUID(), quantity: 1 }], 'lineItems[0].id: '],
    ['neither id nor sku', () => [{ quantity: 1 }], 'lineItems[0]'],
    ['quantity 0', () => [{ sku: shirts.sku, quantity: 0 }], 'lineItems[0].quantity: '],
    ['a quantity below 0', () => [{ sku: shirts.sku, quantity: -1 }], 'lineItems[0].quantity: '],
    ['half a unit', () => [{ sku: shirts.sku, quantity: 1.5 }], 'lineItems[0].quantity: '],
    ['a quantity as text', () => [{ sku: shirts.sku, quantity: '1' }], 'lineItems[0].quantity: '],
    ['no quantity', () => [{ sku: shirts.sku }], 'lineItems[0].quantity: '],
    ['more than is pending', () => [...whole().slice(1), { sku: shirts.sku, quantity: 11 }], 'lineItems[1].quantity: '],
    ['more in sum', () => [6, 5].map((quantity) => ({ sku: shirts.sku, quantity })), '.quantity: '],
    [
      'more in sum than integers hold',
      () => [1, 2].map(() => ({ sku: shirts.sku, quantity: 2_147_483_647 })),
      '.quantity: ',
    ],
    [
      'more than a line has, by our id',
      () => [{ id: id(fulfillment.lines, 0), quantity: 7 }],
      'lineItems[0].quantity: ',
    ],
    ["more than a line has, by the order line's id", () => [{ id: id(order.lines, 2), quantity: 5 }], '.quantity: '],
    [
      'more by id and sku together',
      () => [
        { id: id(fulfillment.lines, 0), quantity: 6 },
        { sku: shirts.sku, quantity: 5 },
      ],
      'lineItems[1].quantity: ',
    ],
    ['the SKU of another item', () => [{ sku: 'SKU-of-nobody', quantity: 1 }], 'lineItems[0].sku: '],
  ]
  for (const [what, lineItems, path] of cases) {
    test(what, async () => {
      await expectUnchanged(sql, async () => {
        for (const partialShipments of [false, true]) {
          const answer = await post(lineItems(), { partialShipments })
          expectRefused(answer, path)
          expect(answer.text.startsWith('orderUpdate.fulfillments[0].lineItems[')).toBe(true)
        }
      })
    })
  }
})
