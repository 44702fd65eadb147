import { describe, expect, test } from 'vitest'
import {
  addItem,
  addLocation,
  addReceipt,
  addShipment,
  completeReceipt,
  type GivenReceipt,
  receiptTime,
  succeeded,
  upsertReceipts,
} from '../../builders.ts'
import { startLading } from '../../harness/lading.ts'
import { actionsOf, addConfiguration, eventsOf, fire } from '../webhooks.ts'

const lading = await startLading()
const { a, sql } = lading
await addConfiguration(a, { capture_snapshot: true })
const item = await addItem(a)
const to = await addLocation(a)
const shipment = await addShipment(a, { to, status: 'shipped', lines: [{ item, quantity: 50 }] })

const upsert = async (receipt: GivenReceipt) =>
  succeeded(await upsertReceipts(a, shipment, [receipt])).receipts[0] ?? { id: '', items: [] }

describe('one event per change and action', () => {
  test('created and completed in one call: both, with the same items, and no updated', async () => {
    const receipt = await upsert({ completed_time: receiptTime, items: [{ sku: item.sku, quantity: 1 }] })
    const events = await eventsOf(a, receipt)
    expect(events.map(({ action }) => action)).toEqual(['shipment_receipt.created', 'shipment_receipt.completed'])
    for (const { json } of events) {
      expect(json).toMatchObject({ id: receipt.id, items: [{ sku: item.sku, quantity: 1 }] })
      expect(json?.completed_time).not.toBeNull()
    }
  })

  test('created, then changed, then completed', async () => {
    const external_ids = { confirmation_id: 'R-1' }
    const receipt = await upsert({ external_ids, items: [] })
    await upsert({ external_ids, items: [{ sku: item.sku, quantity: 2 }] })
    expect(await actionsOf(a, receipt)).toEqual(['shipment_receipt.created', 'shipment_receipt.updated'])
    succeeded(await completeReceipt(a, receipt))
    expect(await actionsOf(a, receipt)).toEqual([
      'shipment_receipt.created',
      'shipment_receipt.updated',
      'shipment_receipt.updated',
      'shipment_receipt.completed',
    ])
  })

  test('an item added, changed or removed by its table is updated; the same call again is nothing', async () => {
    const receipt = await addReceipt(a, shipment, [{ item, quantity: 1 }])
    expect(await actionsOf(a, receipt)).toEqual(['shipment_receipt.created', 'shipment_receipt.updated'])
    const path = `/shipment_receipt_items?shipment_receipt_id=eq.${receipt.id}`
    succeeded(await a.rest.patch(path, { quantity: 4 }))
    succeeded(await a.rest.patch(path, { quantity: 4 }))
    expect(await actionsOf(a, receipt)).toHaveLength(3)
    succeeded(await a.rest.delete(path))
    expect(await actionsOf(a, receipt)).toHaveLength(4)
  })

  test('deleted, with its last state', async () => {
    const receipt = await addReceipt(a, shipment)
    succeeded(await a.rest.delete(`/shipment_receipts?id=eq.${receipt.id}`))
    expect((await eventsOf(a, receipt)).at(-1)).toMatchObject({
      action: 'shipment_receipt.deleted',
      json: { id: receipt.id, shipment_id: shipment.id },
    })
    expect(await fire(sql)).toBeGreaterThan(0)
  })

  test('a receipt is no change of its shipment', async () => {
    const before = await actionsOf(a, shipment)
    await addReceipt(a, shipment, [{ item, quantity: 1 }])
    expect(await actionsOf(a, shipment)).toEqual(before)
  })
})
