import { beforeAll, describe, expect, test } from 'vitest'
import {
  addItem,
  addLocation,
  addReceipt,
  addShipment,
  completedReceiptRefusal,
  completeReceipt,
  type Item,
  ledgerOf,
  quantitiesOf,
  receiptTime,
  type Shipment,
  succeeded,
  upsertReceipts,
} from '../builders.ts'
import { startLading } from '../harness/lading.ts'
import type { Answer } from '../harness/rest_client.ts'

const lading = await startLading()
const { a } = lading
const refused = { status: 400, body: completedReceiptRefusal }

let warehouse: string
let item: Item
let shipment: Shipment
let completed: { id: string }
let open: { id: string }
let lines: { id: string }[]
let openLine: { id: string }
beforeAll(async () => {
  warehouse = await addLocation(a)
  item = await addItem(a)
  shipment = await addShipment(a, { to: warehouse, status: 'shipped', lines: [{ item, quantity: 100 }] })
  completed = await addReceipt(a, shipment, [
    { item, quantity: 5 },
    { item, quantity: 6 },
  ])
  open = await addReceipt(a, shipment, [{ item, quantity: 7 }])
  succeeded(await completeReceipt(a, completed))
  lines = succeeded(
    await a.rest.get<{ id: string }[]>(`/shipment_receipt_items?shipment_receipt_id=eq.${completed.id}&order=id`),
  )
  const [line] = succeeded(
    await a.rest.get<{ id: string }[]>(`/shipment_receipt_items?shipment_receipt_id=eq.${open.id}`),
  )
  if (line === undefined) throw new Error('the open receipt has no item')
  openLine = line
})

/** Everything that a refused change might have touched. */
const everything = async () => ({
  receipts: succeeded(await a.rest.get('/shipment_receipts?order=id')),
  items: succeeded(await a.rest.get('/shipment_receipt_items?order=id')),
  ledger: await ledgerOf(a),
  quantities: await quantitiesOf(a, item, warehouse),
})

interface Attempt {
  title: string
  act: (rest: typeof a.rest) => Promise<Answer<unknown>>
}

const newItem = (receipt: { id: string }) => ({
  business_id: a.id,
  shipment_receipt_id: receipt.id,
  inventory_item_id: item.id,
  quantity: 1,
})

const attempts: Attempt[] = [
  {
    title: 'PATCH of the receipt, received_time',
    act: (rest) => rest.patch(`/shipment_receipts?id=eq.${completed.id}`, { received_time: receiptTime }),
  },
  {
    title: 'PATCH of the receipt, completed_time null again',
    act: (rest) => rest.patch(`/shipment_receipts?id=eq.${completed.id}`, { completed_time: null }),
  },
  {
    title: 'PATCH of the receipt that says what is so already',
    act: (rest) => rest.patch(`/shipment_receipts?id=eq.${completed.id}`, { completed_time: receiptTime }),
  },
  {
    title: 'PATCH of all receipts of the shipment, of which one is complete',
    act: (rest) => rest.patch(`/shipment_receipts?shipment_id=eq.${shipment.id}`, { completed_time: receiptTime }),
  },
  {
    title: 'PUT of the receipt',
    act: (rest) =>
      rest.put(`/shipment_receipts?id=eq.${completed.id}`, {
        id: completed.id,
        business_id: a.id,
        shipment_id: shipment.id,
        received_time: receiptTime,
        completed_time: null,
        additional_fields: null,
        external_ids: null,
        creation_time: null,
        update_time: null,
      }),
  },
  {
    title: 'POST of the receipt with merge-duplicates',
    act: (rest) =>
      rest.post(
        '/shipment_receipts',
        { id: completed.id, business_id: a.id, shipment_id: shipment.id },
        { Prefer: 'resolution=merge-duplicates' },
      ),
  },
  { title: 'DELETE of the receipt', act: (rest) => rest.delete(`/shipment_receipts?id=eq.${completed.id}`) },
  {
    title: 'PATCH of an item, quantity',
    act: (rest) => rest.patch(`/shipment_receipt_items?id=eq.${lines[0]?.id}`, { quantity: 50 }),
  },
  {
    title: 'PATCH of an item, comment',
    act: (rest) => rest.patch(`/shipment_receipt_items?id=eq.${lines[1]?.id}`, { comment: 'found in the yard' }),
  },
  { title: 'DELETE of an item', act: (rest) => rest.delete(`/shipment_receipt_items?id=eq.${lines[0]?.id}`) },
  {
    title: 'DELETE of all its items',
    act: (rest) => rest.delete(`/shipment_receipt_items?shipment_receipt_id=eq.${completed.id}`),
  },
  { title: 'POST of a further item', act: (rest) => rest.post('/shipment_receipt_items', newItem(completed)) },
  {
    title: 'POST of several items, of which one is for it',
    act: (rest) => rest.post('/shipment_receipt_items', [newItem(open), newItem(completed)]),
  },
  {
    title: 'POST of an item with merge-duplicates',
    act: (rest) =>
      rest.post(
        '/shipment_receipt_items',
        { id: lines[0]?.id, ...newItem(completed) },
        { Prefer: 'resolution=merge-duplicates' },
      ),
  },
  {
    title: 'an item moved out of it',
    act: (rest) => rest.patch(`/shipment_receipt_items?id=eq.${lines[0]?.id}`, { shipment_receipt_id: open.id }),
  },
  {
    title: 'an item moved into it',
    act: (rest) => rest.patch(`/shipment_receipt_items?id=eq.${openLine.id}`, { shipment_receipt_id: completed.id }),
  },
  {
    title: 'the receipt moved to another shipment',
    act: async (rest) => {
      const other = await addShipment(a, { to: warehouse })
      return rest.patch(`/shipment_receipts?id=eq.${completed.id}`, { shipment_id: other.id })
    },
  },
  {
    title: 'the same receipt posted again, by its id',
    act: (rest) =>
      upsertReceipts({ id: a.id, rest }, shipment, [{ id: completed.id, items: [{ sku: item.sku, quantity: 5 }] }]),
  },
]

describe('a completed receipt is final: P0001 with exactly four keys, and nothing changes', () => {
  for (const { title, act } of attempts) {
    for (const role of ['business', 'operator'] as const) {
      test(`${title} (${role})`, async () => {
        const before = await everything()
        const answer = await act(role === 'business' ? a.rest : lading.operator)
        expect(answer).toMatchObject({ status: 400 })
        expect(answer.body).toEqual(completedReceiptRefusal)
        expect(await everything()).toEqual(before)
      })
    }
  }

  test('the owner of the database meets the same refusal', async () => {
    const attempt = (statement: string) => lading.sql.unsafe(statement)
    for (const statement of [
      `update api.shipment_receipts set received_time = now() where id = '${completed.id}'`,
      `delete from api.shipment_receipts where id = '${completed.id}'`,
      `update api.shipment_receipt_items set quantity = 1 where shipment_receipt_id = '${completed.id}'`,
      `delete from api.shipment_receipt_items where shipment_receipt_id = '${completed.id}'`,
      `insert into api.shipment_receipt_items (business_id, shipment_receipt_id, inventory_item_id, quantity)
       values ('${a.id}', '${completed.id}', '${item.id}', 1)`,
    ]) {
      await expect(attempt(statement), statement).rejects.toMatchObject({
        code: 'P0001',
        message: completedReceiptRefusal.message,
      })
    }
  })

  test('the completed one posted again by its external_ids, with other content', async () => {
    const mine = await addShipment(a, { to: warehouse })
    const receipt = { external_ids: { confirmation_id: 'C-77' }, items: [{ sku: item.sku, quantity: 3 }] }
    succeeded(await upsertReceipts(a, mine, [{ ...receipt, completed_time: receiptTime }]))
    const before = await everything()
    for (const again of [
      receipt,
      { ...receipt, completed_time: receiptTime },
      { ...receipt, items: [] },
      { ...receipt, received_time: '2020-01-01T00:00:00Z' },
    ]) {
      const answer = await upsertReceipts(a, mine, [again])
      expect(answer).toMatchObject(refused)
      expect(answer.body).toEqual(completedReceiptRefusal)
    }
    expect(await upsertReceipts(a, mine, [receipt], { patch: false })).toMatchObject(refused)
    expect(await everything()).toEqual(before)
  })

  test('one call with a new receipt and the completed one: the new one is absent too', async () => {
    const before = await everything()
    for (const order of ['new first', 'completed first']) {
      const receipts = [
        { external_ids: { confirmation_id: `new ${order}` }, items: [{ sku: item.sku, quantity: 1 }] },
        { id: completed.id, items: [] },
      ]
      const answer = await upsertReceipts(a, shipment, order === 'new first' ? receipts : receipts.reverse())
      expect(answer.status).toBe(400)
      expect(answer.body).toEqual(completedReceiptRefusal)
    }
    expect(await everything()).toEqual(before)
  })

  test('a receipt completed within a call is final in the next, also where it was created complete by POST', async () => {
    const [receipt] = succeeded(
      await a.rest.post<{ id: string }[]>(
        '/shipment_receipts',
        { business_id: a.id, shipment_id: shipment.id, completed_time: receiptTime },
        { Prefer: 'return=representation' },
      ),
    )
    expect(receipt).toBeDefined()
    if (receipt === undefined) return
    expect(await a.rest.post('/shipment_receipt_items', newItem(receipt))).toMatchObject(refused)
    expect(await a.rest.delete(`/shipment_receipts?id=eq.${receipt.id}`)).toMatchObject(refused)
  })

  test('another business sees nothing to change, and is told nothing', async () => {
    const before = await everything()
    expect(
      await lading.b.rest.patch(`/shipment_receipts?id=eq.${completed.id}`, { received_time: receiptTime }),
    ).toMatchObject({ status: 204 })
    expect(await lading.b.rest.delete(`/shipment_receipt_items?id=eq.${lines[0]?.id}`)).toMatchObject({ status: 204 })
    expect(await everything()).toEqual(before)
  })

  test('an open receipt of the same shipment may still change, and go', async () => {
    expect(await a.rest.patch(`/shipment_receipt_items?id=eq.${openLine.id}`, { quantity: 8 })).toMatchObject({
      status: 204,
    })
    expect(await a.rest.delete(`/shipment_receipts?id=eq.${open.id}`)).toMatchObject({ status: 204 })
    expect(succeeded(await a.rest.get(`/shipment_receipt_items?shipment_receipt_id=eq.${open.id}`))).toEqual([])
  })
})
