import { expect, test } from 'vitest'
import { startLading } from '../harness/lading.ts'
import { makeSamples } from './samples.ts'

const lading = await startLading()
const a = await makeSamples(lading, lading.a)
const b = await makeSamples(lading, lading.b)

test.each([
  ['channels', 'name', 'Web shop'],
  ['locations', 'name', 'Hall 4'],
  ['locations', 'legacy_id', 4],
  ['inventory_items', 'sku', 'SKU-4'],
  ['product_data', 'sku', 'SKU-5'],
  ['orders', 'purchase_order_number', 'PO-4'],
  ['shipments', 'shipment_number', 'S-4'],
])('%s.%s is unique in a business: 409; another business may use the same', async (resource, field, value) => {
  const create = (rest: typeof lading.a.rest, row: unknown) => rest.post(`/${resource}`, row)
  const ofA = () => ({ ...a.minimal(resource), [field]: value })
  expect((await create(lading.a.rest, ofA())).status).toBe(201)
  expect(await create(lading.a.rest, ofA())).toMatchObject({ status: 409, body: { code: '23505' } })
  expect((await create(lading.b.rest, { ...b.minimal(resource), [field]: value })).status).toBe(201)
})

test('locations without a legacy_id and orders without a purchase_order_number may be many', async () => {
  for (const resource of ['locations', 'orders']) {
    for (const row of [a.minimal(resource), a.minimal(resource)]) {
      expect((await lading.a.rest.post(`/${resource}`, row)).status).toBe(201)
    }
  }
})

test('orders.channel_order_id is unique in its channel', async () => {
  const [other] = (
    await lading.a.rest.post<{ id: string }[]>(
      '/channels',
      { business_id: lading.a.id, name: 'Other' },
      { Prefer: 'return=representation' },
    )
  ).body
  const create = (channel_id: unknown) =>
    lading.a.rest.post('/orders', { business_id: lading.a.id, channel_id, channel_order_id: '1001' })
  expect((await create(a.rows.channels?.id)).status).toBe(201)
  expect((await create(a.rows.channels?.id)).status).toBe(409)
  expect((await create(other?.id)).status).toBe(201)
  expect((await create(null)).status).toBe(201)
  expect((await create(null)).status).toBe(201)
})
