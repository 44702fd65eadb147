import { expect, test } from 'vitest'
import { add, adjust, distinct, succeeded } from '../builders.ts'
import { startLading } from '../harness/lading.ts'

const { a, b } = await startLading()

test('inventory_quantities names item and location, and derives on_hand and available_to_promise', async () => {
  const location = await add(a, 'locations', { name: distinct('Dock'), legacy_id: 41 })
  const item = await add<{ id: string; sku: string }>(a, 'inventory_items', {
    sku: distinct('SKU'),
    title: 'Mug, blue',
    legacy_id: 77,
  })
  const at = (inventory_status: string, quantity: number) => ({
    sku: item.sku,
    location_id: location.id,
    inventory_status,
    quantity,
  })
  succeeded(
    await adjust(a, [
      at('available_to_sell', 100),
      at('on_hold', 7),
      at('unavailable', 5),
      at('committed', 20),
      at('reserve', 3),
      at('incoming', 11),
      at('on_order', 13),
    ]),
  )
  const rows = succeeded(await a.rest.get<object[]>(`/inventory_quantities?inventory_item_id=eq.${item.id}`))
  expect(rows).toEqual([
    {
      business_id: a.id,
      inventory_item_id: item.id,
      location_id: location.id,
      available_to_sell: 100,
      committed: 20,
      on_hand: 112,
      on_hold: 7,
      on_order: 13,
      reserve: 3,
      incoming: 11,
      unavailable: 5,
      available_to_promise: 77,
      sku: item.sku,
      title: 'Mug, blue',
      location: expect.stringMatching(/^Dock/),
      location_legacy_id: 41,
      inventory_item_legacy_id: 77,
    },
  ])
  expect(await a.rest.get('/inventory_quantities?available_to_promise=gt.76&select=sku')).toMatchObject({
    body: [{ sku: item.sku }],
  })
  expect(await b.rest.get('/inventory_quantities')).toMatchObject({ status: 200, body: [] })
})
