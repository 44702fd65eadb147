import { beforeEach, describe, expect, test } from 'vitest'
import {
  addItem,
  addLocation,
  addShipment,
  completedReceiptRefusal,
  type Item,
  ledgerOf,
  quantitiesOf,
  receiptTime,
  type Shipment,
  succeeded,
  upsertReceipts,
} from '../builders.ts'
import { startLading } from '../harness/lading.ts'

const { a, b, operator } = await startLading()

let warehouse: string
let shipment: Shipment
let shirts: Item
let mugs: Item
beforeEach(async () => {
  warehouse = await addLocation(a)
  shirts = await addItem(a)
  mugs = await addItem(a)
  shipment = await addShipment(a, { to: warehouse, status: 'shipped', lines: [{ item: shirts, quantity: 100 }] })
})

const receiptsOf = async (of: Shipment) =>
  succeeded(await a.rest.get<{ id: string }[]>(`/shipment_receipts?shipment_id=eq.${of.id}&order=id`))

describe('upsert_shipment_receipts_full', () => {
  test('no receipt yet: an open one with its items is stored (3.4, first row)', async () => {
    const answer = await upsertReceipts(a, shipment, [
      {
        external_ids: { confirmation_id: 'C-1' },
        additional_fields: { dock: 4 },
        items: [{ sku: shirts.sku, quantity: 3, comment: 'wet', external_ids: { shipment_line_number: 1 } }],
      },
    ])
    expect(answer).toMatchObject({
      status: 200,
      body: {
        business_id: a.id,
        shipment_id: shipment.id,
        shipment_number: shipment.shipment_number,
        receipts: [
          {
            received_time: receiptTime,
            completed_time: null,
            external_ids: { confirmation_id: 'C-1' },
            additional_fields: { dock: 4 },
            discrepancies: [],
            items: [
              {
                sku: shirts.sku,
                inventory_item_id: shirts.id,
                quantity: 3,
                available: true,
                comment: 'wet',
                receipt_time: receiptTime,
                external_ids: { shipment_line_number: 1 },
              },
            ],
          },
        ],
      },
    })
    expect(await receiptsOf(shipment)).toMatchObject([{ id: answer.body.receipts[0]?.id, completed_time: null }])
    expect(await ledgerOf(a, `cause_id=eq.${answer.body.receipts[0]?.id}`)).toEqual([])
  })

  test('open, the same receipt without completed_time: updated, still open (3.4, second row)', async () => {
    const send = (quantity: number) =>
      upsertReceipts(a, shipment, [
        { external_ids: { confirmation_id: 'C-1' }, items: [{ sku: shirts.sku, quantity, external_ids: { line: 1 } }] },
      ])
    const first = succeeded(await send(3)).receipts[0]
    const second = succeeded(await send(5)).receipts[0]
    expect(second).toMatchObject({
      id: first?.id,
      completed_time: null,
      items: [{ id: first?.items[0]?.id, quantity: 5 }],
    })
    expect(await receiptsOf(shipment)).toHaveLength(1)
  })

  test('open, with completed_time: complete, adjusted at location_to, unusable items as unavailable (3.4, third row)', async () => {
    const ids = { external_ids: { confirmation_id: 'C-1' } }
    const items = [
      { sku: shirts.sku, quantity: 50, external_ids: { line: 1 } },
      { sku: shirts.sku, quantity: 4, external_ids: { line: 2 }, available: false },
    ]
    succeeded(await upsertReceipts(a, shipment, [{ ...ids, items }]))
    const done = succeeded(await upsertReceipts(a, shipment, [{ ...ids, completed_time: receiptTime, items }]))
    expect(await quantitiesOf(a, shirts, warehouse)).toMatchObject({
      available_to_sell: 50,
      unavailable: 4,
      on_hand: 54,
      incoming: 46,
    })
    expect(await ledgerOf(a, `cause_id=eq.${done.receipts[0]?.id}`)).toHaveLength(3)
  })

  test('complete, any further upsert of it: 400 with exactly the four keys (3.4, fourth row)', async () => {
    const receipt = { external_ids: { confirmation_id: 'C-1' }, items: [{ sku: shirts.sku, quantity: 5 }] }
    succeeded(await upsertReceipts(a, shipment, [{ ...receipt, completed_time: receiptTime }]))
    const answer = await upsertReceipts(a, shipment, [receipt])
    expect(answer.status).toBe(400)
    expect(answer.body).toEqual(completedReceiptRefusal)
    expect(await quantitiesOf(a, shirts, warehouse)).toMatchObject({ available_to_sell: 5 })
  })

  test('a new receipt may come complete: completed_time is applied after its items', async () => {
    const { receipts } = succeeded(
      await upsertReceipts(a, shipment, [
        {
          completed_time: receiptTime,
          items: [
            { sku: shirts.sku, quantity: 5 },
            { sku: mugs.sku, quantity: 1 },
          ],
        },
      ]),
    )
    expect(receipts[0]).toMatchObject({ completed_time: receiptTime, items: [{ quantity: 5 }, { quantity: 1 }] })
    expect(await quantitiesOf(a, shirts, warehouse)).toMatchObject({ available_to_sell: 5, incoming: 95 })
  })

  test('the last change of the items before completion is what is booked', async () => {
    const ids = { external_ids: { confirmation_id: 'C-1' } }
    succeeded(
      await upsertReceipts(a, shipment, [
        { ...ids, items: [{ sku: shirts.sku, quantity: 50, external_ids: { line: 1 } }] },
      ]),
    )
    succeeded(
      await upsertReceipts(a, shipment, [
        {
          ...ids,
          completed_time: receiptTime,
          items: [{ sku: shirts.sku, quantity: 7, available: false, external_ids: { line: 1 } }],
        },
      ]),
    )
    expect(await quantitiesOf(a, shirts, warehouse)).toMatchObject({ available_to_sell: 0, unavailable: 7 })
  })

  test('receipts and items are answered in the order given, new and known mixed', async () => {
    const items = (...skus: string[]) => skus.map((sku, n) => ({ sku, quantity: n + 1, external_ids: { line: sku } }))
    const known = succeeded(
      await upsertReceipts(a, shipment, [
        { external_ids: { n: 1 }, items: items(shirts.sku) },
        { external_ids: { n: 2 }, items: items(mugs.sku) },
      ]),
    ).receipts
    const { receipts } = succeeded(
      await upsertReceipts(a, shipment, [
        { external_ids: { n: 3 }, items: items(mugs.sku, shirts.sku) },
        { external_ids: { n: 2 }, items: items(shirts.sku, mugs.sku) },
        { external_ids: { n: 4 }, completed_time: receiptTime, items: [] },
        { external_ids: { n: 1 }, items: [] },
      ]),
    )
    expect(receipts.map(({ external_ids }) => external_ids)).toEqual([{ n: 3 }, { n: 2 }, { n: 4 }, { n: 1 }])
    expect(receipts[1]?.id).toBe(known[1]?.id)
    expect(receipts[3]?.id).toBe(known[0]?.id)
    expect(receipts.map((receipt) => receipt.items.map(({ sku, quantity }) => [sku, quantity]))).toEqual([
      [
        [mugs.sku, 1],
        [shirts.sku, 2],
      ],
      [
        [shirts.sku, 1],
        [mugs.sku, 2],
      ],
      [],
      [[shirts.sku, 1]],
    ])
  })

  test('200 items come back in the order given', async () => {
    const quantities = Array.from({ length: 200 }, (_, n) => ((n * 37) % 200) + 1)
    const { receipts } = succeeded(
      await upsertReceipts(a, shipment, [{ items: quantities.map((quantity) => ({ sku: shirts.sku, quantity })) }]),
    )
    expect(receipts[0]?.items.map(({ quantity }) => quantity)).toEqual(quantities)
  })

  test('the answer is accepted as input, and changes nothing', async () => {
    const answer = succeeded(
      await upsertReceipts(a, shipment, [
        {
          external_ids: { n: 1 },
          items: [
            { sku: shirts.sku, quantity: 200 },
            { sku: mugs.sku, quantity: 1 },
          ],
        },
        { items: [] },
      ]),
    )
    for (const patch of [true, false]) {
      const again = await a.rest.rpc('upsert_shipment_receipts_full', { shipment_receipts_full: answer, patch })
      expect(again).toMatchObject({ status: 200 })
      expect(again.body).toEqual(answer)
    }
  })

  test('no receipts, and a receipt without items, are nothing wrong', async () => {
    expect(succeeded(await upsertReceipts(a, shipment, [])).receipts).toEqual([])
    expect(succeeded(await upsertReceipts(a, shipment, [{ items: [] }])).receipts).toMatchObject([{ items: [] }])
  })

  test('the shipment itself is not changed', async () => {
    const read = async () => succeeded(await a.rest.get(`/shipments?id=eq.${shipment.id}`))
    const before = await read()
    succeeded(
      await upsertReceipts(a, shipment, [{ completed_time: receiptTime, items: [{ sku: mugs.sku, quantity: 1 }] }]),
    )
    expect(await read()).toEqual(before)
  })

  test('patch true: what is not named stays, items that are not named stay, objects are merged by key', async () => {
    const { receipts } = succeeded(
      await upsertReceipts(a, shipment, [
        {
          external_ids: { n: 1 },
          additional_fields: { dock: 4, shift: 'late' },
          items: [
            { sku: shirts.sku, quantity: 5, comment: 'wet', available: false, external_ids: { line: 1 } },
            { sku: mugs.sku, quantity: 2, external_ids: { line: 2 } },
          ],
        },
      ]),
    )
    const changed = succeeded(
      await upsertReceipts(a, shipment, [
        {
          id: receipts[0]?.id,
          additional_fields: { dock: 5 },
          items: [{ sku: shirts.sku, quantity: 6, external_ids: { line: 1 } }],
        },
      ]),
    ).receipts[0]
    expect(changed).toMatchObject({
      id: receipts[0]?.id,
      external_ids: { n: 1 },
      additional_fields: { dock: 5, shift: 'late' },
    })
    expect(changed?.items).toMatchObject([
      { id: receipts[0]?.items[0]?.id, quantity: 6, comment: 'wet', available: false },
      { id: receipts[0]?.items[1]?.id, sku: mugs.sku, quantity: 2 },
    ])
  })

  test('patch false: the items become exactly those given, fields that are not named go back to their defaults', async () => {
    const { receipts } = succeeded(
      await upsertReceipts(a, shipment, [
        {
          external_ids: { n: 1 },
          additional_fields: { dock: 4 },
          items: [
            { sku: shirts.sku, quantity: 5, comment: 'wet', available: false, external_ids: { line: 1 } },
            { sku: mugs.sku, quantity: 2, external_ids: { line: 2 } },
          ],
        },
        { external_ids: { n: 2 }, items: [{ sku: mugs.sku, quantity: 9 }] },
      ]),
    )
    const { receipts: changed } = succeeded(
      await upsertReceipts(
        a,
        shipment,
        [
          {
            external_ids: { n: 1 },
            items: [
              { sku: mugs.sku, quantity: 1 },
              { sku: shirts.sku, quantity: 6, external_ids: { line: 1 } },
            ],
          },
        ],
        { patch: false },
      ),
    )
    expect(changed[0]).toMatchObject({ id: receipts[0]?.id, additional_fields: null, external_ids: { n: 1 } })
    expect(changed[0]?.items).toMatchObject([
      { sku: mugs.sku, quantity: 1 },
      { id: receipts[0]?.items[0]?.id, quantity: 6, comment: null, available: true },
    ])
    expect(
      succeeded(await a.rest.get(`/shipment_receipt_items?shipment_receipt_id=eq.${receipts[1]?.id}`)),
    ).toHaveLength(1)
  })

  test('patch false with completed_time books the items given and no others', async () => {
    const ids = { external_ids: { n: 1 } }
    succeeded(await upsertReceipts(a, shipment, [{ ...ids, items: [{ sku: shirts.sku, quantity: 50 }] }]))
    succeeded(
      await upsertReceipts(
        a,
        shipment,
        [{ ...ids, completed_time: receiptTime, items: [{ sku: mugs.sku, quantity: 2 }] }],
        { patch: false },
      ),
    )
    expect(await quantitiesOf(a, shirts, warehouse)).toMatchObject({ available_to_sell: 0, incoming: 100 })
    expect(await quantitiesOf(a, mugs, warehouse)).toMatchObject({ available_to_sell: 2 })
  })

  test('an operator acts for any business; a business only for itself', async () => {
    expect(
      await upsertReceipts({ id: a.id, rest: operator }, shipment, [{ items: [{ sku: shirts.sku, quantity: 1 }] }]),
    ).toMatchObject({ status: 200 })
    expect(await upsertReceipts({ id: a.id, rest: b.rest }, shipment, [{ items: [] }])).toMatchObject({
      status: 400,
      body: { code: 'P0001', message: `business_id: no business "${a.id}"` },
    })
    expect(await upsertReceipts(b, shipment, [{ items: [] }])).toMatchObject({
      status: 400,
      body: { message: `shipment_number: no shipment "${shipment.shipment_number}"` },
    })
  })

  test('the same SKU of another business is not taken', async () => {
    const theirs = await addItem(b)
    expect(await upsertReceipts(a, shipment, [{ items: [{ sku: theirs.sku, quantity: 1 }] }])).toMatchObject({
      status: 400,
      body: { message: `receipts[0].items[0].sku: no inventory item "${theirs.sku}"` },
    })
  })
})
