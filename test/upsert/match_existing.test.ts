import { beforeEach, describe, expect, test } from 'vitest'
import {
  addItem,
  addLocation,
  addReceipt,
  addShipment,
  type GivenReceipt,
  type Item,
  type Receipt,
  type Shipment,
  succeeded,
  upsertReceipts,
} from '../builders.ts'
import { startLading } from '../harness/lading.ts'

const lading = await startLading()
const { a, b } = lading

let shipment: Shipment
let item: Item
beforeEach(async () => {
  item = await addItem(a)
  shipment = await addShipment(a, { to: await addLocation(a) })
})

const send = async (receipt: GivenReceipt): Promise<Receipt> => {
  const [stored] = succeeded(await upsertReceipts(a, shipment, [receipt])).receipts
  if (stored === undefined) throw new Error('no receipt came back')
  return stored
}

const countReceipts = async () =>
  succeeded(await a.rest.get<object[]>(`/shipment_receipts?shipment_id=eq.${shipment.id}`)).length

const line = (fields: object = {}) => ({ sku: item.sku, quantity: 1, ...fields })

describe('receipts and items are matched by id, else by external_ids, else they are new', () => {
  test('by id, also when the external_ids given are new to it', async () => {
    const first = await send({ external_ids: { confirmation_id: 'C-1' } })
    const again = await send({ id: first.id, external_ids: { wms: 'W-9' } })
    expect(again).toMatchObject({ id: first.id, external_ids: { confirmation_id: 'C-1', wms: 'W-9' } })
    expect(await countReceipts()).toBe(1)
  })

  test('an id that no record has: a new one of that id', async () => {
    const id = '0198c0de-0000-7000-8000-000000000001'
    expect(await send({ id, items: [line({ id })] })).toMatchObject({ id, items: [{ id }] })
  })

  test('by external_ids: the stored object contains every pair given', async () => {
    const first = await send({ external_ids: { confirmation_id: 'C-1', wms: 'W-1' } })
    expect((await send({ external_ids: { wms: 'W-1' } })).id).toBe(first.id)
    expect((await send({ external_ids: { wms: 'W-1', confirmation_id: 'C-1' } })).id).toBe(first.id)
    expect((await send({ external_ids: { wms: 'W-2' } })).id).not.toBe(first.id)
    expect((await send({ external_ids: { wms: 'W-1', erp: 'E-1' } })).id).not.toBe(first.id)
    expect(await countReceipts()).toBe(3)
  })

  test('values are compared as JSON: 1 is not "1"', async () => {
    const first = await send({ external_ids: { n: 1 } })
    expect((await send({ external_ids: { n: '1' } })).id).not.toBe(first.id)
    expect((await send({ external_ids: { n: 1.0 } })).id).toBe(first.id)
  })

  test('external_ids {} and null never match: twice makes two receipts, and two items', async () => {
    for (const external_ids of [{}, null]) {
      const first = await send({ external_ids, items: [line({ external_ids })] })
      const second = await send({ external_ids, items: [line({ external_ids })] })
      expect(second.id).not.toBe(first.id)
      const third = await send({ id: second.id, external_ids, items: [line({ external_ids })] })
      expect(third.items).toHaveLength(2)
    }
    await send({})
    await send({})
    expect(await countReceipts()).toBe(6)
  })

  test('{} twice in one call: two receipts', async () => {
    const { receipts } = succeeded(
      await upsertReceipts(a, shipment, [
        { external_ids: {}, items: [] },
        { external_ids: {}, items: [] },
      ]),
    )
    expect(new Set(receipts.map(({ id }) => id)).size).toBe(2)
  })

  test('several stored receipts contain the pairs given: 409', async () => {
    await send({ external_ids: { order: 7, part: 1 } })
    await send({ external_ids: { order: 7, part: 2 } })
    expect(await upsertReceipts(a, shipment, [{ external_ids: { order: 7 } }])).toMatchObject({
      status: 409,
      body: { message: 'receipts[0].external_ids: match several records' },
    })
    expect(await countReceipts()).toBe(2)
  })

  test('several stored items contain the pairs given: 409', async () => {
    const items = [line({ external_ids: { lot: 'L', n: 1 } }), line({ external_ids: { lot: 'L', n: 2 } })]
    const { id } = await send({ items })
    expect(
      await upsertReceipts(a, shipment, [{ id, items: [line(), line({ external_ids: { lot: 'L' } })] }]),
    ).toMatchObject({ status: 409, body: { message: 'receipts[0].items[1].external_ids: match several records' } })
  })

  test('two objects of one call that name one stored record: 409', async () => {
    const { id } = await send({ external_ids: { n: 1, m: 1 }, items: [line({ external_ids: { l: 1 } })] })
    expect(await upsertReceipts(a, shipment, [{ external_ids: { n: 1 } }, { external_ids: { m: 1 } }])).toMatchObject({
      status: 409,
      body: { message: 'receipts[1]: names the same record as receipts[0]' },
    })
    expect(
      await upsertReceipts(a, shipment, [
        { id, items: [line({ external_ids: { l: 1 } }), line({ external_ids: { l: 1 } })] },
      ]),
    ).toMatchObject({
      status: 409,
      body: { message: 'receipts[0].items[1]: names the same record as receipts[0].items[0]' },
    })
  })

  test('the same external_ids twice in one call, new: 409, for the call could not be repeated', async () => {
    expect(await upsertReceipts(a, shipment, [{ external_ids: { n: 1 } }, { external_ids: { n: 1 } }])).toMatchObject({
      status: 409,
    })
    expect(
      await upsertReceipts(a, shipment, [
        { items: [line({ external_ids: { l: 1 } }), line({ external_ids: { l: 1 } })] },
      ]),
    ).toMatchObject({ status: 409 })
  })

  test('the same new id twice in one call: 409', async () => {
    const id = '0198c0de-0000-7000-8000-0000000000aa'
    expect(await upsertReceipts(a, shipment, [{ id }, { id }])).toMatchObject({ status: 409 })
    expect(await upsertReceipts(a, shipment, [{ items: [line({ id }), line({ id })] }])).toMatchObject({ status: 409 })
  })

  test('external_ids are matched within the shipment and the receipt only', async () => {
    const other = await addShipment(a, { to: await addLocation(a) })
    const ids = { external_ids: { confirmation_id: 'C-1' } }
    const first = await send({ ...ids, items: [line({ external_ids: { l: 1 } })] })
    const elsewhere = succeeded(await upsertReceipts(a, other, [{ ...ids, items: [line({ external_ids: { l: 1 } })] }]))
      .receipts[0]
    expect(elsewhere?.id).not.toBe(first.id)
    expect(elsewhere?.items[0]?.id).not.toBe(first.items[0]?.id)
  })

  test('an id that a receipt of another shipment has is refused (409), and that receipt stays where it is', async () => {
    const other = await addShipment(a, { to: await addLocation(a) })
    const theirs = await addReceipt(a, other, [{ item, quantity: 5 }])
    expect(await upsertReceipts(a, shipment, [{ id: theirs.id, items: [line()] }])).toMatchObject({ status: 409 })
    expect(succeeded(await a.rest.get(`/shipment_receipts?id=eq.${theirs.id}`))).toMatchObject([
      { shipment_id: other.id },
    ])
  })

  test('an id that an item of another receipt has is refused (409), and that item stays where it is', async () => {
    const first = await send({ items: [line({ quantity: 5 })] })
    const second = await send({ items: [line({ quantity: 6 })] })
    expect(
      await upsertReceipts(a, shipment, [{ id: second.id, items: [line({ id: first.items[0]?.id })] }]),
    ).toMatchObject({ status: 409 })
    expect(succeeded(await a.rest.get(`/shipment_receipt_items?id=eq.${first.items[0]?.id}`))).toMatchObject([
      { shipment_receipt_id: first.id, quantity: 5 },
    ])
  })

  test("an id of another business's receipt is refused, to an operator too, and nothing of it changes", async () => {
    const theirShipment = await addShipment(b, { to: await addLocation(b) })
    const theirs = await addReceipt(b, theirShipment)
    const before = succeeded(await b.rest.get('/shipment_receipts'))
    for (const rest of [a.rest, lading.operator]) {
      const answer = await upsertReceipts({ id: a.id, rest }, shipment, [{ id: theirs.id, external_ids: { mine: 1 } }])
      expect([403, 409]).toContain(answer.status)
    }
    expect(succeeded(await b.rest.get('/shipment_receipts'))).toEqual(before)
  })

  test('among many receipts the right one is found', async () => {
    const receipts = Array.from({ length: 60 }, (_, n) => ({ external_ids: { carrier: 'same', number: n } }))
    const stored = succeeded(await upsertReceipts(a, shipment, receipts)).receipts
    const again = succeeded(await upsertReceipts(a, shipment, [...receipts].reverse())).receipts
    expect(again.map(({ id }) => id)).toEqual(stored.map(({ id }) => id).reverse())
  })
})
