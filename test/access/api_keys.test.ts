import { describe, expect, test } from 'vitest'
import { startLading } from '../harness/lading.ts'
import { readResources } from './exposed.ts'

const lading = await startLading()
const keys = [lading.applicationKey, lading.operatorKey, lading.a.key, lading.a.warehouseKey, lading.b.key]

interface Listed {
  id: string
  business_id: string | null
  name: string
  role: string
  creation_time: string
  revoked_time: string | null
}

describe('the list of API keys', () => {
  test('a business sees the keys of its own business, by name and role, without their secrets', async () => {
    const { status, body } = await lading.a.rest.get<Listed[]>('/api_keys?order=name')
    expect(status).toBe(200)
    expect(
      body.map(({ name, role, business_id, revoked_time }) => ({ name, role, business_id, revoked_time })),
    ).toEqual([
      { name: 'Business A business', role: 'business', business_id: lading.a.id, revoked_time: null },
      { name: 'Business A warehouse', role: 'warehouse', business_id: lading.a.id, revoked_time: null },
    ])
    for (const row of body) {
      expect(Object.keys(row).sort()).toEqual(['business_id', 'creation_time', 'id', 'name', 'revoked_time', 'role'])
    }
  })

  test('an operator sees all, with the operator keys', async () => {
    const { body } = await lading.operator.get<Listed[]>('/api_keys')
    expect(body).toHaveLength(5)
    expect(body.filter((row) => row.business_id === null)).toMatchObject([{ role: 'operator' }])
  })

  test.each(['key', 'key_hash', 'signing_secret_id'])(
    '%s can be neither selected, filtered nor ordered by',
    async (column) => {
      for (const query of [`select=${column}`, `${column}=not.is.null`, `order=${column}`]) {
        const { status } = await lading.operator.get(`/api_keys?${query}`)
        expect(status, query).toBe(400)
      }
    },
  )

  test('keys are not made, changed or ended through the list: only by the calls', async () => {
    const [key] = (await lading.a.rest.get<Listed[]>('/api_keys?limit=1')).body
    const changes = await Promise.all([
      lading.a.rest.patch(`/api_keys?id=eq.${key?.id}`, { name: 'renamed' }),
      lading.a.rest.delete(`/api_keys?id=eq.${key?.id}`),
      lading.operator.delete(`/api_keys?id=eq.${key?.id}`),
    ])
    expect(changes.map(({ status }) => status)).toEqual([403, 403, 403])
  })
})

test('no resource shows a key or its hash to anyone', async () => {
  const hashes = await lading.sql<{ hex: string; base64: string }[]>`
    select encode(key_hash, 'hex') as hex, rtrim(encode(key_hash, 'base64'), '=') as base64 from internal.api_keys
    union all
    select encode(key_hash, 'hex'), rtrim(encode(key_hash, 'base64'), '=') from internal.application_keys`
  const secrets = [...keys, ...hashes.flatMap(({ hex, base64 }) => [hex, base64])]
  for (const { name } of await readResources(lading.sql)) {
    for (const rest of [lading.a.rest, lading.operator]) {
      const text = JSON.stringify((await rest.get(`/${name}`)).body)
      expect(secrets.filter((secret) => text.includes(secret))).toEqual([])
    }
  }
})

test('the database keeps no key, only its SHA-256', async () => {
  const [stored] = await lading.sql`
    select count(*)::integer as keys from internal.api_keys where key_hash = sha256(convert_to(${lading.a.key}, 'UTF8'))`
  expect(stored?.keys).toBe(1)
  const tables = await lading.sql<{ name: string }[]>`
    select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname in ('api', 'internal')`
  for (const { name } of tables) {
    const [found] = await lading.sql.unsafe(
      `select count(*)::integer as rows from ${name} t where ${keys.map((_, n) => `strpos(t::text, $${n + 1}) > 0`).join(' or ')}`,
      keys,
    )
    expect(found?.rows, name).toBe(0)
  }
})
