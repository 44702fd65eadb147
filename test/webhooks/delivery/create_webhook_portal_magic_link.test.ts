import { describe, expect, test } from 'vitest'
import { succeeded } from '../../builders.ts'
import { startLading } from '../../harness/lading.ts'

const lading = await startLading()
const { a, b, sql } = lading

interface Link {
  url: string
  expires_time: string
}

const link = async (business = a) =>
  succeeded(await business.rest.rpc<Link>('create_webhook_portal_magic_link', { business_id: business.id }))
const tokenOf = ({ url }: Link) => new URL(url).searchParams.get('token') ?? ''

test('gives an address of this installation, for seven days, and keeps only a hash', async () => {
  const made = await link()
  expect(made.url).toMatch(`${lading.baseUrl}/`)
  const days = (new Date(made.expires_time).getTime() - Date.now()) / 86_400_000
  expect(days).toBeCloseTo(7, 2)
  const kept = JSON.stringify(await sql`select encode(token_hash, 'escape') as hash, * from internal.portal_links`)
  expect(kept).not.toContain(tokenOf(made))
  expect(tokenOf(await link())).not.toBe(tokenOf(made))
})

test('revoking ends all links of the business and no others', async () => {
  await link()
  await link(b)
  const { count } = succeeded(
    await a.rest.rpc<{ count: number }>('revoke_webhook_portal_magic_links', { business_id: a.id }),
  )
  expect(count).toBeGreaterThan(0)
  const valid = await sql<{ business_id: string }[]>`
    select distinct business_id from internal.portal_links where revoked_time is null`
  expect(valid.map(({ business_id }) => business_id)).toEqual([b.id])
  expect(succeeded(await a.rest.rpc('revoke_webhook_portal_magic_links', { business_id: a.id }))).toEqual({ count: 0 })
})

describe.each(['create_webhook_portal_magic_link', 'revoke_webhook_portal_magic_links'])('%s', (name) => {
  test('for another business it is refused, with a warehouse key 403', async () => {
    expect([403, 404, 400]).toContain((await a.rest.rpc(name, { business_id: b.id })).status)
    expect((await lading.rest(a.warehouseKey).rpc(name, { business_id: a.id })).status).toBe(403)
    expect((await lading.operator.rpc(name, { business_id: a.id })).status).toBe(200)
  })
})
