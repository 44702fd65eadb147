import { describe, expect, test } from 'vitest'
import { addItem, addLocation, addReceipt, addShipment, patchShipment, succeeded } from '../builders.ts'
import { startLading } from '../harness/lading.ts'

const { a, operator } = await startLading()
const warehouse = await addLocation(a)
const item = await addItem(a)
const lines = [{ item, quantity: 5 }]

const remove = (shipment: { id: string }, rest = a.rest) => rest.delete(`/shipments?id=eq.${shipment.id}`)

describe('a shipment that has shipped, or has receipts, is not deleted', () => {
  test('shipped, shipped and closed, shipped and canceled: 409', async () => {
    for (const next of ['shipped', 'closed', 'canceled']) {
      const shipment = await addShipment(a, { to: warehouse, status: 'shipped', lines })
      succeeded(await patchShipment(a, shipment, { status: next }))
      const refusal = {
        status: 409,
        body: { message: `Shipment ${shipment.shipment_number} has shipped: it cannot be deleted` },
      }
      expect(await remove(shipment)).toMatchObject(refusal)
      expect(await remove(shipment, operator)).toMatchObject(refusal)
    }
  })

  test('one that shipped without locations or lines, and is closed since, has shipped too: 409', async () => {
    const shipment = await addShipment(a, { status: 'shipped' })
    succeeded(await patchShipment(a, shipment, { status: 'closed' }))
    expect(await remove(shipment)).toMatchObject({ status: 409 })
  })

  test('with a receipt: 409, until the open receipt is gone', async () => {
    const shipment = await addShipment(a, { to: warehouse, lines })
    const receipt = await addReceipt(a, shipment, lines)
    expect(await remove(shipment)).toMatchObject({
      status: 409,
      body: { message: `Shipment ${shipment.shipment_number} has receipts: it cannot be deleted` },
    })
    succeeded(await a.rest.delete(`/shipment_receipts?id=eq.${receipt.id}`))
    expect(await remove(shipment)).toMatchObject({ status: 204 })
  })

  test('one that never shipped goes with its packages and lines, whatever its state', async () => {
    for (const status of ['unshipped', 'closed', 'canceled'] as const) {
      const shipment = await addShipment(a, { to: warehouse, status, lines })
      expect(await remove(shipment)).toMatchObject({ status: 204 })
      expect(succeeded(await a.rest.get(`/shipment_items?shipment_id=eq.${shipment.id}`))).toEqual([])
    }
  })

  test('a DELETE of several goes through or stops as one', async () => {
    const free = await addShipment(a, { lines })
    const shipped = await addShipment(a, { to: warehouse, status: 'shipped', lines })
    expect(await a.rest.delete(`/shipments?id=in.(${free.id},${shipped.id})`)).toMatchObject({ status: 409 })
    expect(succeeded(await a.rest.get(`/shipments?id=eq.${free.id}`))).toHaveLength(1)
  })
})
