import { describe, expect, test } from 'vitest'
import { addItem, addLocation, adjust, succeeded, verify } from '../builders.ts'
import { startLading } from '../harness/lading.ts'

const lading = await startLading()
const { a, b } = lading

const counted = async (business: typeof a) => {
  const [item, location_id] = [await addItem(business), await addLocation(business)]
  succeeded(await adjust(business, [{ sku: item.sku, location_id, inventory_status: 'on_hold', quantity: 4 }]))
  return { item, location_id }
}

describe('verify_inventory', () => {
  test('[] while ledger and quantities agree', async () => {
    await counted(a)
    expect(await verify(a)).toEqual([])
  })

  test('shows what disagrees, and to no other business', async () => {
    const { item, location_id } = await counted(b)
    await lading.sql`update internal.inventory_levels set on_hold = 5, reserve = 1 where inventory_item_id = ${item.id}`
    const found = [
      { location_id, inventory_item_id: item.id, inventory_status: 'on_hold', ledger_quantity: 4, current_quantity: 5 },
      { location_id, inventory_item_id: item.id, inventory_status: 'reserve', ledger_quantity: 0, current_quantity: 1 },
    ]
    expect(await verify(b)).toEqual(expect.arrayContaining(found))
    expect(await verify({ id: b.id, rest: lading.operator })).toHaveLength(2)
    expect(await verify(a)).toEqual([])
    expect(await lading.sql`select business_id, current_quantity from internal.verify_all_inventory()`).toMatchObject([
      { business_id: b.id },
      { business_id: b.id },
    ])
    await lading.sql`update internal.inventory_levels set on_hold = 4, reserve = 0 where inventory_item_id = ${item.id}`
  })

  test('quantities without ledger, and a ledger without quantities, are shown too', async () => {
    const { item } = await counted(b)
    const other = await counted(b)
    await lading.sql`delete from internal.inventory_levels where inventory_item_id = ${item.id}`
    expect(await verify(b)).toMatchObject([{ inventory_item_id: item.id, ledger_quantity: 4, current_quantity: 0 }])
    expect(await verify(b)).not.toMatchObject([{ inventory_item_id: other.item.id }])
  })

  test('another business, or none, is refused', async () => {
    for (const business_id of [b.id, '0198c0de-0000-7000-8000-00000000dead', null]) {
      expect(await a.rest.rpc('verify_inventory', { business_id })).toMatchObject({ status: 400 })
    }
  })
})
