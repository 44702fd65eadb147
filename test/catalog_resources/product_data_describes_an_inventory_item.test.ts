import { describe, expect, test } from 'vitest'
import { startLading } from '../harness/lading.ts'

const lading = await startLading()
const business_id = lading.a.id
const merge = { Prefer: 'resolution=merge-duplicates' }

const describeProduct = (row: Record<string, unknown>, headers?: Record<string, string>) =>
  lading.a.rest.post('/product_data?on_conflict=business_id,sku', { business_id, ...row }, headers)
const itemOf = async (sku: string) =>
  (await lading.a.rest.get<unknown[]>(`/inventory_items?sku=eq.${sku}&select=sku,title,upc,business_id`)).body

describe('creating product data', () => {
  test('makes the inventory item of its SKU', async () => {
    expect((await describeProduct({ sku: 'P-1', name: 'Mug', upc: '4006381333931' })).status).toBe(201)
    expect(await itemOf('P-1')).toEqual([{ business_id, sku: 'P-1', title: 'Mug', upc: '4006381333931' }])
  })

  test('updates the item that is there; what it does not give stays', async () => {
    await lading.a.rest.post('/inventory_items', { business_id, sku: 'P-2', title: 'Old', upc: '1' })
    await describeProduct({ sku: 'P-2', name: 'New' })
    expect(await itemOf('P-2')).toMatchObject([{ title: 'New', upc: '1' }])
  })

  test('in bulk makes an item for each', async () => {
    const rows = ['P-9', 'P-8', 'P-7'].map((sku) => ({ business_id, sku, name: sku }))
    expect((await lading.a.rest.post('/product_data', rows)).status).toBe(201)
    expect(await Promise.all(rows.map(({ sku }) => itemOf(sku)))).toMatchObject(rows.map(({ sku }) => [{ title: sku }]))
  })

  test('is one row per SKU: again is 409, or merged when asked for', async () => {
    await describeProduct({ sku: 'P-3', name: 'First' })
    expect((await lading.a.rest.post('/product_data', { business_id, sku: 'P-3' })).status).toBe(409)
    expect([200, 201]).toContain((await describeProduct({ sku: 'P-3', name: 'Second' }, merge)).status)
    expect(await itemOf('P-3')).toMatchObject([{ title: 'Second' }])
  })

  test('does not touch the item of that SKU of another business', async () => {
    await lading.b.rest.post('/inventory_items', { business_id: lading.b.id, sku: 'P-4', title: 'Theirs' })
    await describeProduct({ sku: 'P-4', name: 'Ours' })
    expect((await lading.b.rest.get('/inventory_items?sku=eq.P-4&select=title')).body).toEqual([{ title: 'Theirs' }])
    expect(await itemOf('P-4')).toMatchObject([{ title: 'Ours' }])
  })
})

test('changing its name or UPC changes the item', async () => {
  await describeProduct({ sku: 'P-5', name: 'Before' })
  await lading.a.rest.patch('/product_data?sku=eq.P-5', { name: 'After', upc: '2' })
  expect(await itemOf('P-5')).toMatchObject([{ title: 'After', upc: '2' }])
})

test('it follows the SKU of its item, and goes with it', async () => {
  await describeProduct({ sku: 'P-6', name: 'Cup' })
  await lading.a.rest.patch('/inventory_items?sku=eq.P-6', { sku: 'P-6b' })
  const renamed = await lading.a.rest.get('/product_data?sku=eq.P-6b&select=name')
  expect(renamed.body).toEqual([{ name: 'Cup' }])
  expect((await lading.a.rest.delete('/inventory_items?sku=eq.P-6b')).status).toBe(204)
  expect((await lading.a.rest.get('/product_data?sku=eq.P-6b')).body).toEqual([])
})
