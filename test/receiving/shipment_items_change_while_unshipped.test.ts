import { describe, expect, test } from 'vitest'
import {
  add,
  addItem,
  addLocation,
  addShipment,
  ledgerOf,
  patchShipment,
  type Shipment,
  succeeded,
} from '../builders.ts'
import { startLading } from '../harness/lading.ts'

const { a } = await startLading()
const warehouse = await addLocation(a)
const item = await addItem(a)
const other = await addItem(a)

const linesOf = async (shipment: Shipment) =>
  succeeded(
    await a.rest.get<{ id: string; quantity: number }[]>(`/shipment_items?shipment_id=eq.${shipment.id}&order=id`),
  )

describe('items of a shipment change while it is unshipped', () => {
  for (const status of ['shipped', 'closed', 'canceled'] as const) {
    test(`${status}: item, quantity, number and shipment of its lines are fixed (409)`, async () => {
      const shipment = await addShipment(a, { to: warehouse, status, lines: [{ item, quantity: 5 }] })
      const open = await addShipment(a, { to: warehouse, lines: [{ item, quantity: 5 }] })
      const [line] = await linesOf(shipment)
      const [openLine] = await linesOf(open)
      const before = { lines: await linesOf(shipment), ledger: await ledgerOf(a) }
      const refusal = {
        status: 409,
        body: { message: `Shipment ${shipment.shipment_number} is ${status}: its items cannot change` },
      }
      const path = `/shipment_items?id=eq.${line?.id}`
      const inFull = (items: object[], patch: boolean) =>
        a.rest.rpc('upsert_shipments_full', {
          shipment: { business_id: a.id, shipment_number: shipment.shipment_number, status, items },
          patch,
        })

      expect(await a.rest.patch(path, { quantity: 6 })).toMatchObject(refusal)
      expect(await a.rest.patch(path, { inventory_item_id: other.id })).toMatchObject(refusal)
      expect(await a.rest.patch(path, { shipment_id: open.id })).toMatchObject(refusal)
      expect(await a.rest.patch(`/shipment_items?id=eq.${openLine?.id}`, { shipment_id: shipment.id })).toMatchObject(
        refusal,
      )
      expect(await a.rest.delete(path)).toMatchObject(refusal)
      expect(
        await a.rest.post('/shipment_items', {
          business_id: a.id,
          shipment_id: shipment.id,
          inventory_item_id: item.id,
          quantity: 1,
        }),
      ).toMatchObject(refusal)
      expect(await inFull([{ id: line?.id, quantity: 6 }], true)).toMatchObject(refusal)
      expect(await inFull([{ sku: item.sku, quantity: 1 }], true)).toMatchObject(refusal)
      expect({ lines: await linesOf(shipment), ledger: await ledgerOf(a) }).toEqual(before)
    })
  }

  test('upsert with patch false that would remove a line of a shipped one: 409', async () => {
    const shipment = await addShipment(a, { to: warehouse, status: 'shipped', lines: [{ item, quantity: 5 }] })
    expect(
      await a.rest.rpc('upsert_shipments_full', {
        shipment: {
          business_id: a.id,
          shipment_number: shipment.shipment_number,
          status: 'shipped',
          location_to: warehouse,
          items: [],
        },
        patch: false,
      }),
    ).toMatchObject({ status: 409, body: { message: expect.stringContaining('its items cannot change') } })
  })

  test('other fields of a line may still change once shipped', async () => {
    const shipment = await addShipment(a, { to: warehouse, status: 'shipped', lines: [{ item, quantity: 5 }] })
    const [line] = await linesOf(shipment)
    expect(await a.rest.patch(`/shipment_items?id=eq.${line?.id}`, { lot_number: 'L-9', quantity: 5 })).toMatchObject({
      status: 204,
    })
  })

  test('unshipped: lines are added, changed and removed, and what is there when it ships is booked', async () => {
    const shipment = await addShipment(a, {
      to: warehouse,
      lines: [
        { item, quantity: 5 },
        { item: other, quantity: 9 },
      ],
    })
    const [first, second] = await linesOf(shipment)
    succeeded(await a.rest.patch(`/shipment_items?id=eq.${first?.id}`, { quantity: 8 }))
    succeeded(await a.rest.delete(`/shipment_items?id=eq.${second?.id}`))
    await add(a, 'shipment_items', { shipment_id: shipment.id, inventory_item_id: item.id, quantity: 1 })
    succeeded(await patchShipment(a, shipment, { status: 'shipped' }))
    expect(await ledgerOf(a, `cause_id=eq.${shipment.id}`)).toMatchObject([
      { inventory_item_id: item.id, inventory_status: 'incoming', quantity: 9 },
    ])
  })
})
