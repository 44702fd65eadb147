import { describe, expect, test } from 'vitest'
import {
  addItem,
  addLocation,
  addReceipt,
  addShipment,
  completedReceiptRefusal,
  completeReceipt,
  dryRun,
  ledgerOf,
  quantitiesOf,
  receiptTime,
  succeeded,
  upsertReceipts,
} from '../builders.ts'
import { startLading } from '../harness/lading.ts'

const { a } = await startLading()
const warehouse = await addLocation(a)
const item = await addItem(a)
const shipment = await addShipment(a, { to: warehouse, status: 'shipped', lines: [{ item, quantity: 10 }] })

const everything = async () => ({
  shipments: succeeded(await a.rest.get('/shipments?order=id')),
  receipts: succeeded(await a.rest.get('/shipment_receipts?order=id')),
  items: succeeded(await a.rest.get('/shipment_receipt_items?order=id')),
  ledger: await ledgerOf(a),
  quantities: await quantitiesOf(a, item, warehouse),
})

describe('Prefer: tx=rollback shows what would happen, and nothing does', () => {
  test('upsert_shipment_receipts_full, completing', async () => {
    const before = await everything()
    const answer = await upsertReceipts(
      a,
      shipment,
      [{ completed_time: receiptTime, items: [{ sku: item.sku, quantity: 12 }] }],
      { headers: dryRun },
    )
    expect(answer).toMatchObject({
      status: 200,
      body: { receipts: [{ completed_time: receiptTime, discrepancies: [{ shipped: 10, received: 12 }] }] },
    })
    expect(await everything()).toEqual(before)
  })

  test('POST, PATCH and DELETE of table resources', async () => {
    const receipt = await addReceipt(a, shipment, [{ item, quantity: 3 }])
    const before = await everything()
    const completion = { completed_time: receiptTime }
    expect(await a.rest.patch(`/shipment_receipts?id=eq.${receipt.id}`, completion, dryRun)).toMatchObject({
      status: 200,
      body: [{ id: receipt.id, completed_time: receiptTime }],
    })
    expect(await a.rest.patch(`/shipments?id=eq.${shipment.id}`, { status: 'canceled' }, dryRun)).toMatchObject({
      body: [{ status: 'canceled' }],
    })
    expect(await a.rest.delete(`/shipment_receipts?id=eq.${receipt.id}`, dryRun)).toMatchObject({
      body: [{ id: receipt.id }],
    })
    const copy = { business_id: a.id, shipment_id: shipment.id }
    expect(await a.rest.post('/shipment_receipts', copy, dryRun)).toMatchObject({ status: 201 })
    expect(await everything()).toEqual(before)
  })

  test('what would be refused is refused', async () => {
    const receipt = await addReceipt(a, shipment)
    succeeded(await completeReceipt(a, receipt))
    const again = await a.rest.patch(`/shipment_receipts?id=eq.${receipt.id}`, { received_time: receiptTime }, dryRun)
    expect(again).toMatchObject({ status: 400, body: completedReceiptRefusal })
    expect(await upsertReceipts(a, shipment, [{ id: receipt.id }], { headers: dryRun })).toMatchObject({ status: 400 })
  })
})
