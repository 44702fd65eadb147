import { describe, expect, test } from 'vitest'
import {
  addItem,
  addLocation,
  addReceipt,
  addShipment,
  ledgerOf,
  patchShipment,
  succeeded,
  upsertReceipts,
} from '../builders.ts'
import { startLading } from '../harness/lading.ts'

const { a } = await startLading()
const warehouse = await addLocation(a)
const item = await addItem(a)

describe('a receipt needs a shipment under way', () => {
  for (const status of ['closed', 'canceled'] as const) {
    test(`a ${status} shipment takes no receipt`, async () => {
      const shipment = await addShipment(a, { to: warehouse, status, lines: [{ item, quantity: 1 }] })
      const refusal = {
        status: 409,
        body: { message: `Shipment ${shipment.shipment_number} is ${status}: it takes no receipt` },
      }
      expect(await a.rest.post('/shipment_receipts', { business_id: a.id, shipment_id: shipment.id })).toMatchObject(
        refusal,
      )
      expect(await upsertReceipts(a, shipment, [{ items: [{ sku: item.sku, quantity: 1 }] }])).toMatchObject(refusal)
      expect(succeeded(await a.rest.get(`/shipment_receipts?shipment_id=eq.${shipment.id}`))).toEqual([])
    })

    test(`nor is an open receipt moved to a ${status} one`, async () => {
      const ended = await addShipment(a, { to: warehouse, status })
      const receipt = await addReceipt(a, await addShipment(a, { to: warehouse }), [{ item, quantity: 1 }])
      expect(await a.rest.patch(`/shipment_receipts?id=eq.${receipt.id}`, { shipment_id: ended.id })).toMatchObject({
        status: 409,
        body: { message: `Shipment ${ended.shipment_number} is ${status}: it takes no receipt` },
      })
    })
  }

  test('an open receipt may be moved to another shipment under way, and is booked at its destination', async () => {
    const store = await addLocation(a)
    const target = await addShipment(a, { to: store, status: 'shipped', lines: [{ item, quantity: 2 }] })
    const receipt = await addReceipt(a, await addShipment(a, { to: warehouse }), [{ item, quantity: 2 }])
    succeeded(await a.rest.patch(`/shipment_receipts?id=eq.${receipt.id}`, { shipment_id: target.id }))
    succeeded(await a.rest.patch(`/shipment_receipts?id=eq.${receipt.id}`, { completed_time: '2026-03-02T10:00Z' }))
    expect(await ledgerOf(a, `cause_id=eq.${receipt.id}`)).toMatchObject([
      { location_id: store, inventory_status: 'available_to_sell', quantity: 2 },
      { location_id: store, inventory_status: 'incoming', quantity: -2 },
    ])
    expect(await patchShipment(a, target, { status: 'closed' })).toMatchObject({ status: 200 })
  })

  test('unshipped and shipped ones take receipts', async () => {
    for (const status of ['unshipped', 'shipped'] as const) {
      const shipment = await addShipment(a, { to: warehouse, status, lines: [{ item, quantity: 1 }] })
      expect(await a.rest.post('/shipment_receipts', { business_id: a.id, shipment_id: shipment.id })).toMatchObject({
        status: 201,
      })
    }
  })
})
