import { expect, test } from 'vitest'
import { add, addItem, distinct, succeeded } from '../builders.ts'
import { startLading } from '../harness/lading.ts'

const { a, b } = await startLading()

test('shipment_package_items shows each package with its items, in line order, with SKU and title', async () => {
  const item = await addItem(a)
  succeeded(await a.rest.patch(`/inventory_items?id=eq.${item.id}`, { title: 'Mug, blue' }))
  const shipment = await add(a, 'shipments', { shipment_number: distinct('SHP') })
  const carton = await add(a, 'shipment_packages', {
    shipment_id: shipment.id,
    carton_id: 'CTN-1',
    ssc: '00340123450000000018',
    dimension: { length: 60, width: 40, height: 30.5, unit: 'cm' },
    pallet_number: 3,
    license_plate: 'LP-7',
    currency_code: 'USD',
    pack_size: 12,
    inner_packs: 2,
    fulfillment_cost: 1.25,
    shipping_cost: 7.5,
    external_ids: { wms: 'P1' },
  })
  const line = {
    shipment_id: shipment.id,
    shipment_package_id: carton.id,
    inventory_item_id: item.id,
    currency_code: 'USD',
    unit_price: 4.5,
  }
  const second = await add(a, 'shipment_items', { ...line, line_number: 2, quantity: 5, lot_number: 'L2' })
  const first = await add(a, 'shipment_items', { ...line, line_number: 1, quantity: 7 })
  await add(a, 'shipment_items', { shipment_id: shipment.id, inventory_item_id: item.id, quantity: 1 })

  const [row, ...more] = succeeded(
    await a.rest.get<{ items: object[] }[]>(`/shipment_package_items?shipment_id=eq.${shipment.id}`),
  )
  expect(more).toEqual([])
  expect(row).toEqual({
    id: carton.id,
    shipment_id: shipment.id,
    additional_fields: null,
    external_ids: { wms: 'P1' },
    carton_id: 'CTN-1',
    ssc: '00340123450000000018',
    dimension: { length: 60, width: 40, height: 30.5, unit: 'cm' },
    pallet_number: 3,
    license_plate: 'LP-7',
    currency_code: 'USD',
    pack_size: 12,
    inner_packs: 2,
    fulfillment_cost: 1.25,
    shipping_cost: 7.5,
    items: [expect.objectContaining({ id: first.id, line_number: 1 }), expect.objectContaining({ id: second.id })],
  })
  expect(row?.items[1]).toEqual({
    id: second.id,
    shipment_id: shipment.id,
    shipment_package_id: carton.id,
    inventory_item_id: item.id,
    sku: item.sku,
    title: 'Mug, blue',
    additional_fields: null,
    external_ids: null,
    line_number: 2,
    quantity: 5,
    name: null,
    upc: null,
    lot_number: 'L2',
    hs_code: null,
    hts_code: null,
    country_of_origin: null,
    serial_number: null,
    currency_code: 'USD',
    unit_price: 4.5,
    discounted_price: null,
  })
  expect(await b.rest.get('/shipment_package_items')).toMatchObject({ status: 200, body: [] })
  expect((await a.rest.delete(`/shipment_package_items?id=eq.${carton.id}`)).status).toBeGreaterThanOrEqual(400)
})
