import { beforeEach, describe, expect, test } from 'vitest'
import {
  addItem,
  addLocation,
  adjust,
  dryRun,
  type Item,
  ledgerOf,
  noQuantities,
  quantitiesOf,
  succeeded,
  verify,
} from '../builders.ts'
import { startLading } from '../harness/lading.ts'

const { a, b, operator } = await startLading()

let location: string
let item: Item
beforeEach(async () => {
  location = await addLocation(a)
  item = await addItem(a)
})

const change = (fields: object) => ({
  sku: item.sku,
  location_id: location,
  inventory_status: 'available_to_sell',
  quantity: 1,
  ...fields,
})

describe('adjust_inventory', () => {
  test('ADJUST adds a signed change, SET brings the quantity to a value', async () => {
    const answer = succeeded(
      await adjust(a, [
        change({ quantity: 10, memo: 'count of Monday' }),
        change({ quantity: -3 }),
        change({ operation: 'SET', quantity: 20 }),
        change({ quantity: 1 }),
      ]),
    )
    expect(answer).toMatchObject({
      adjusted: 3,
      set: 1,
      duplicates: 0,
      adjustments: [
        { operation: 'ADJUST', quantity: 10, quantity_after: 10, memo: 'count of Monday', cause_id: null },
        { operation: 'ADJUST', quantity: -3, quantity_after: 7, memo: null },
        { operation: 'SET', quantity: 13, quantity_after: 20 },
        { operation: 'ADJUST', quantity: 1, quantity_after: 21, cause_type: 'adjust_inventory' },
      ],
    })
    expect(answer.adjustments).toEqual(await ledgerOf(a, `inventory_item_id=eq.${item.id}`))
    expect(await quantitiesOf(a, item, location)).toMatchObject({ available_to_sell: 21 })
  })

  test('a SET twice, an ADJUST after it, and a SET first', async () => {
    const answer = succeeded(
      await adjust(a, [
        change({ operation: 'SET', quantity: 5 }),
        change({ quantity: 2 }),
        change({ operation: 'SET', quantity: 3 }),
        change({ operation: 'SET', quantity: 9 }),
        change({ quantity: -10 }),
      ]),
    )
    expect(answer.adjustments.map(({ quantity, quantity_after }) => [quantity, quantity_after])).toEqual([
      [5, 5],
      [2, 7],
      [-4, 3],
      [6, 9],
      [-10, -1],
    ])
  })

  test('each status is kept apart, and on_hand and available_to_promise follow', async () => {
    const statuses = ['available_to_sell', 'committed', 'on_hold', 'on_order', 'reserve', 'incoming', 'unavailable']
    succeeded(
      await adjust(
        a,
        statuses.map((inventory_status, n) => change({ inventory_status, quantity: 10 ** n })),
      ),
    )
    expect(await quantitiesOf(a, item, location)).toEqual({
      available_to_sell: 1,
      committed: 10,
      on_hold: 100,
      on_order: 1000,
      reserve: 10_000,
      incoming: 100_000,
      unavailable: 1_000_000,
      on_hand: 1_000_101,
      available_to_promise: 1 - 10 - 10_000,
    })
  })

  test('items by sku or by inventory_item_id; the id counts where both are given', async () => {
    const other = await addItem(a)
    succeeded(
      await adjust(a, [
        { ...change({ quantity: 2 }), sku: other.sku, inventory_item_id: item.id },
        { inventory_item_id: other.id, location_id: location, inventory_status: 'on_hold', quantity: 3 },
      ]),
    )
    expect(await quantitiesOf(a, item, location)).toMatchObject({ available_to_sell: 2 })
    expect(await quantitiesOf(a, other, location)).toMatchObject({ available_to_sell: 0, on_hold: 3 })
  })

  test('all or nothing: one that cannot be made, and none is', async () => {
    expect(await adjust(a, [change({ quantity: 5 }), change({ sku: 'NO-SUCH-SKU' })])).toMatchObject({
      status: 400,
      body: { code: 'P0001', message: 'adjustments[1].sku: no inventory item "NO-SUCH-SKU"' },
    })
    expect(
      await adjust(a, [change({ quantity: 5 }), change({ inventory_status: 'committed', quantity: -1 })]),
    ).toMatchObject({ status: 400 })
    expect(await ledgerOf(a, `inventory_item_id=eq.${item.id}`)).toEqual([])
  })

  for (const inventory_status of ['committed', 'incoming']) {
    test(`${inventory_status} does not go below 0, by ADJUST or SET, also halfway`, async () => {
      succeeded(await adjust(a, [change({ inventory_status, quantity: 2 })]))
      for (const refused of [
        [change({ inventory_status, quantity: -3 })],
        [change({ inventory_status, operation: 'SET', quantity: -1 })],
        [change({ inventory_status, quantity: -3 }), change({ inventory_status, quantity: 3 })],
      ]) {
        expect(await adjust(a, refused)).toMatchObject({ status: 400 })
      }
      succeeded(await adjust(a, [change({ inventory_status, quantity: -2 })]))
      expect(await quantitiesOf(a, item, location)).toEqual(noQuantities)
    })
  }

  test('what lies there may go below 0: it was sold before it was counted', async () => {
    succeeded(await adjust(a, [change({ quantity: -4 })]))
    expect(await quantitiesOf(a, item, location)).toMatchObject({ available_to_sell: -4, on_hand: -4 })
  })

  test('no adjustments: nothing written', async () => {
    expect(succeeded(await adjust(a, []))).toEqual({ adjusted: 0, set: 0, duplicates: 0, adjustments: [] })
  })

  test('a quantity beyond a trillion is refused, and nothing is stored', async () => {
    const most = '1000000000000'
    const send = (quantity: string) =>
      a.rest.post(
        '/rpc/adjust_inventory',
        JSON.stringify({ business_id: a.id, adjustments: [change({ operation: 'ADJUST', quantity: 0 })] }).replace(
          '"quantity":0',
          `"quantity":${quantity}`,
        ),
        { 'Content-Type': 'application/json' },
      )
    expect(await send(most)).toMatchObject({ status: 200 })
    expect(await send('1')).toMatchObject({ status: 400 })
    expect(await send('9223372036854775808')).toMatchObject({ status: 400 })
    expect(await ledgerOf(a, `inventory_item_id=eq.${item.id}`)).toHaveLength(1)
    expect(await send(`-${most}`)).toMatchObject({ status: 200 })
  })

  test('a dry run answers what would be written, and writes nothing', async () => {
    expect(await adjust(a, [change({ quantity: 5 })], dryRun)).toMatchObject({
      status: 200,
      body: { adjusted: 1, adjustments: [{ quantity: 5, quantity_after: 5 }] },
    })
    expect(await ledgerOf(a, `inventory_item_id=eq.${item.id}`)).toEqual([])
  })

  test('items and locations of another business are not there', async () => {
    const theirs = { item: await addItem(b), location: await addLocation(b) }
    expect(await adjust(a, [change({ sku: theirs.item.sku })])).toMatchObject({
      body: { message: `adjustments[0].sku: no inventory item "${theirs.item.sku}"` },
    })
    expect(await adjust(a, [change({ location_id: theirs.location })])).toMatchObject({
      body: { message: `adjustments[0].location_id: no location "${theirs.location}"` },
    })
    expect(await adjust({ id: a.id, rest: b.rest }, [change({})])).toMatchObject({ status: 400 })
    expect(await adjust({ id: a.id, rest: operator }, [change({})])).toMatchObject({ status: 200 })
  })
})

describe('idempotent_key', () => {
  test('repeated: changes nothing, counts as a duplicate; new ones beside it are made', async () => {
    const once = change({ quantity: 5, idempotent_key: 'count-1' })
    succeeded(await adjust(a, [once]))
    expect(succeeded(await adjust(a, [once, change({ quantity: 2 })]))).toMatchObject({
      adjusted: 1,
      duplicates: 1,
      adjustments: [{ quantity: 2, quantity_after: 7 }],
    })
    expect(await quantitiesOf(a, item, location)).toMatchObject({ available_to_sell: 7 })
  })

  test('a SET repeated stays a duplicate, though the quantity has moved since', async () => {
    const once = change({ operation: 'SET', quantity: 5, idempotent_key: 'set-1' })
    succeeded(await adjust(a, [once, change({ quantity: 3 })]))
    expect(succeeded(await adjust(a, [once]))).toMatchObject({ set: 0, duplicates: 1, adjustments: [] })
    expect(await quantitiesOf(a, item, location)).toMatchObject({ available_to_sell: 8 })
  })

  test('by sku and then by inventory_item_id is the same adjustment', async () => {
    succeeded(await adjust(a, [change({ idempotent_key: 'k-id' })]))
    const { sku: _, ...byId } = { ...change({ idempotent_key: 'k-id' }), inventory_item_id: item.id }
    expect(succeeded(await adjust(a, [byId]))).toMatchObject({ duplicates: 1 })
  })

  test('with other content: 409, and nothing of the call is made', async () => {
    succeeded(await adjust(a, [change({ quantity: 5, idempotent_key: 'count-2' })]))
    const elsewhere = await addLocation(a)
    for (const other of [
      { quantity: 6 },
      { operation: 'SET' },
      { inventory_status: 'on_hold' },
      { location_id: elsewhere },
      { sku: (await addItem(a)).sku },
      { memo: 'recount' },
    ]) {
      expect(
        await adjust(a, [change({ quantity: 1 }), change({ quantity: 5, idempotent_key: 'count-2', ...other })]),
        JSON.stringify(other),
      ).toMatchObject({
        status: 409,
        body: { message: 'adjustments[1].idempotent_key: "count-2" was used for another adjustment' },
      })
    }
    expect(await quantitiesOf(a, item, location)).toMatchObject({ available_to_sell: 5 })
  })

  test('twice in one call: once made, once a duplicate; with other content 409', async () => {
    const once = change({ quantity: 5, idempotent_key: 'count-3' })
    expect(succeeded(await adjust(a, [once, once]))).toMatchObject({ adjusted: 1, duplicates: 1 })
    const again = change({ quantity: 5, idempotent_key: 'count-4' })
    expect(await adjust(a, [again, { ...again, quantity: 6 }])).toMatchObject({ status: 409 })
    expect(await quantitiesOf(a, item, location)).toMatchObject({ available_to_sell: 5 })
  })

  test('is the business’s own: another one may use the same', async () => {
    const once = change({ idempotent_key: 'count-5' })
    succeeded(await adjust(a, [once]))
    const theirs = { sku: (await addItem(b)).sku, location_id: await addLocation(b) }
    expect(succeeded(await adjust(b, [{ ...once, ...theirs }]))).toMatchObject({ adjusted: 1, duplicates: 0 })
  })

  test('a refused call does not use its key up', async () => {
    const key = { idempotent_key: 'count-6' }
    expect(await adjust(a, [change(key), change({ sku: 'NO-SUCH-SKU' })])).toMatchObject({ status: 400 })
    expect(succeeded(await adjust(a, [change(key)]))).toMatchObject({ adjusted: 1, duplicates: 0 })
    expect(await verify(a)).toEqual([])
  })
})
