import { describe, expect, test } from 'vitest'
import { addItem, addLocation, ledgerOf, quantitiesOf, stock } from '../builders.ts'
import { startLading } from '../harness/lading.ts'

const lading = await startLading()
const { a } = lading
const location = await addLocation(a)
const item = await addItem(a)
await stock(a, item, location, 12)
const [entry] = await ledgerOf(a)
const before = JSON.stringify(await ledgerOf(a))

describe('the inventory ledger is append-only', () => {
  test('no key writes it through its resource', async () => {
    const clients = { business: a.rest, operator: lading.operator, warehouse: lading.rest(a.warehouseKey) }
    for (const [role, rest] of Object.entries(clients)) {
      const path = `/inventory_adjustments?id=eq.${entry?.id}`
      expect(await rest.patch(path, { quantity: 1 }), role).toMatchObject({ status: 403 })
      expect(await rest.delete(path), role).toMatchObject({ status: 403 })
      expect(await rest.post('/inventory_adjustments', { ...entry, id: undefined }), role).toMatchObject({
        status: 403,
      })
      expect(await rest.patch('/inventory_quantities', { available_to_sell: 1 }), role).toMatchObject({
        status: expect.toSatisfy((status: number) => status >= 400 && status < 500),
      })
    }
    expect(JSON.stringify(await ledgerOf(a))).toBe(before)
  })

  test('the owner of the database neither changes, removes nor truncates entries', async () => {
    for (const statement of [
      `update api.inventory_adjustments set quantity = 1 where id = '${entry?.id}'`,
      `update api.inventory_adjustments set memo = 'mended'`,
      `delete from api.inventory_adjustments where id = '${entry?.id}'`,
      'truncate api.inventory_adjustments',
      'truncate api.inventory_adjustments, internal.inventory_levels cascade',
    ]) {
      await expect(lading.sql.unsafe(statement), statement).rejects.toMatchObject({
        code: 'PT409',
        message: 'The inventory ledger is append-only: post a further adjustment instead',
      })
    }
    expect(JSON.stringify(await ledgerOf(a))).toBe(before)
  })

  test('an item and a location that the ledger speaks of are not deleted', async () => {
    expect(await a.rest.delete(`/inventory_items?id=eq.${item.id}`)).toMatchObject({ status: 409 })
    expect(await a.rest.delete(`/locations?id=eq.${location}`)).toMatchObject({ status: 409 })
    expect(await quantitiesOf(a, item, location)).toMatchObject({ available_to_sell: 12 })
  })
})
