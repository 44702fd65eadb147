import { expect, test } from 'vitest'
import { startLading } from '../harness/lading.ts'

const lading = await startLading()
const csv = { 'Content-Type': 'text/csv' }

test('records come in as CSV, with quoted commas, line breaks and NULL', async () => {
  const body = `business_id,sku,title,legacy_id
${lading.a.id},C-1,"Cup, blue",7
${lading.a.id},C-2,"two
lines",NULL
`
  expect((await lading.a.rest.post('/inventory_items', body, csv)).status).toBe(201)
  expect((await lading.a.rest.get('/inventory_items?select=sku,title,legacy_id&order=sku')).body).toEqual([
    { sku: 'C-1', title: 'Cup, blue', legacy_id: 7 },
    { sku: 'C-2', title: 'two\nlines', legacy_id: null },
  ])
})

test('records go out as CSV', async () => {
  const { status, headers, body } = await lading.a.rest.get('/inventory_items?select=sku,legacy_id&order=sku', {
    Accept: 'text/csv',
  })
  expect(status).toBe(200)
  expect(headers.get('content-type')).toContain('text/csv')
  expect(body).toBe('sku,legacy_id\nC-1,7\nC-2,')
})

test.each([
  ['a row of another length', 'business_id,sku\nx'],
  ['an unknown column', 'business_id,colour\nx,y'],
  ['a wrong value', 'business_id,sku,legacy_id\nx,C-3,many'],
])('%s: 400, nothing stored', async (_reason, body) => {
  expect((await lading.a.rest.post('/inventory_items', body.replaceAll('x', lading.a.id), csv)).status).toBe(400)
  expect((await lading.a.rest.get<unknown[]>('/inventory_items')).body).toHaveLength(2)
})
