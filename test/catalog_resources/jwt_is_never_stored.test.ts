import { expect, test } from 'vitest'
import { startLading } from '../harness/lading.ts'

const lading = await startLading()
const JWT = 'eyJhbGciOiJIUzI1NiJ9.a-token-of-a-client'
const representation = { Prefer: 'return=representation' }

test('a jwt is accepted with product data, answered as null, and stored nowhere', async () => {
  const row = { business_id: lading.a.id, sku: 'J-1', jwt: JWT }
  expect(await lading.a.rest.post('/product_data', row, representation)).toMatchObject({
    status: 201,
    body: [{ sku: 'J-1', jwt: null }],
  })
  expect(await lading.a.rest.patch('/product_data?sku=eq.J-1', { jwt: JWT }, representation)).toMatchObject({
    status: 200,
    body: [{ jwt: null }],
  })
  const tables = await lading.sql<{ name: string }[]>`
    select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname in ('api', 'internal')`
  for (const { name } of tables) {
    expect(await lading.sql.unsafe(`select from ${name} t where strpos(t::text, $1) > 0`, [JWT]), name).toHaveLength(0)
  }
})
