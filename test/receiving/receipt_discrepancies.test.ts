import { describe, expect, test } from 'vitest'
import {
  addItem,
  addLocation,
  addReceipt,
  addShipment,
  quantitiesOf,
  receiptTime,
  succeeded,
  upsertReceipts,
} from '../builders.ts'
import { startLading } from '../harness/lading.ts'

const { a } = await startLading()
const warehouse = await addLocation(a)

describe('over-receipt is accepted and shown under discrepancies', () => {
  test('more than was shipped, over all receipts of the shipment', async () => {
    const item = await addItem(a)
    const shipment = await addShipment(a, { to: warehouse, status: 'shipped', lines: [{ item, quantity: 10 }] })
    const first = succeeded(
      await upsertReceipts(a, shipment, [{ completed_time: receiptTime, items: [{ sku: item.sku, quantity: 6 }] }]),
    )
    expect(first.receipts[0]?.discrepancies).toEqual([])

    const second = succeeded(
      await upsertReceipts(a, shipment, [{ completed_time: receiptTime, items: [{ sku: item.sku, quantity: 7 }] }]),
    )
    expect(second.receipts[0]?.discrepancies).toEqual([
      { inventory_item_id: item.id, sku: item.sku, shipped: 10, received: 13 },
    ])
    expect(await quantitiesOf(a, item, warehouse)).toMatchObject({ available_to_sell: 13, incoming: 0 })
  })

  test('exactly what was shipped, or less: none', async () => {
    const item = await addItem(a)
    const shipment = await addShipment(a, { to: warehouse, lines: [{ item, quantity: 10 }] })
    for (const quantity of [4, 6]) {
      const answer = succeeded(await upsertReceipts(a, shipment, [{ items: [{ sku: item.sku, quantity }] }]))
      expect(answer.receipts[0]?.discrepancies).toEqual([])
    }
  })

  test('an item that is not on the shipment, by SKU, and only in the receipt that holds it', async () => {
    const shipped = await addItem(a, 'A-shipped')
    const stray = await addItem(a, 'B-stray')
    const shipment = await addShipment(a, { to: warehouse, lines: [{ item: shipped, quantity: 2 }] })
    const { receipts } = succeeded(
      await upsertReceipts(a, shipment, [
        {
          items: [
            { sku: stray.sku, quantity: 1, available: false },
            { sku: shipped.sku, quantity: 3 },
          ],
        },
        { items: [{ sku: shipped.sku, quantity: 1 }] },
      ]),
    )
    expect(receipts.map(({ discrepancies }) => discrepancies)).toEqual([
      [
        { inventory_item_id: shipped.id, sku: 'A-shipped', shipped: 2, received: 4 },
        { inventory_item_id: stray.id, sku: 'B-stray', shipped: 0, received: 1 },
      ],
      [{ inventory_item_id: shipped.id, sku: 'A-shipped', shipped: 2, received: 4 }],
    ])
  })

  test('receipts opened through the table count too', async () => {
    const item = await addItem(a)
    const shipment = await addShipment(a, { to: warehouse, lines: [{ item, quantity: 2 }] })
    await addReceipt(a, shipment, [{ item, quantity: 2 }])
    const { receipts } = succeeded(await upsertReceipts(a, shipment, [{ items: [{ sku: item.sku, quantity: 1 }] }]))
    expect(receipts[0]?.discrepancies).toMatchObject([{ shipped: 2, received: 3 }])
  })
})
