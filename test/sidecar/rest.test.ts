import { expect, test } from 'vitest'
import { startLading } from '../harness/lading.ts'

const lading = await startLading()

test('GET /live answers while the process runs', async () => {
  const answer = await fetch(`${lading.baseUrl}/live`)
  expect([answer.status, await answer.json()]).toEqual([200, { status: 'live' }])
})

test('GET /ready answers 200 when database and schema cache are there', async () => {
  const answer = await fetch(`${lading.baseUrl}/ready`)
  expect([answer.status, await answer.json()]).toEqual([200, { status: 'ready', database: true, postgrest: true }])
})

test('another path is 404', async () => {
  expect((await fetch(`${lading.baseUrl}/nothing`)).status).toBe(404)
})

test('a business key sees its own business only', async () => {
  const answer = await lading.a.rest.get('/businesses?select=id')
  expect(answer).toMatchObject({ status: 200, body: [{ id: lading.a.id }] })
})

test('keys are required', async () => {
  expect((await lading.rest(null).get('/businesses')).status).toBe(401)
  expect((await lading.rest(lading.a.key, null).get('/businesses')).status).toBe(401)
})

test('Location of a created record is its public address, and can be read', async () => {
  const created = await lading.a.rest.post(
    '/locations',
    { business_id: lading.a.id, name: 'Somewhere' },
    { Prefer: 'return=headers-only' },
  )
  expect(created.status).toBe(201)
  const location = created.headers.get('location')
  expect(location).toMatch(`${lading.restUrl}/locations?id=eq.`)
  const read = await fetch(location ?? '', {
    headers: { apikey: lading.applicationKey, Authorization: `Bearer ${lading.a.key}` },
  })
  expect(await read.json()).toMatchObject([{ name: 'Somewhere' }])
})

test('OpenAPI names the public address', async () => {
  const answer = await lading.operator.get<{ host: string; basePath: string }>('/')
  expect(answer.body).toMatchObject({ host: new URL(lading.baseUrl).host, basePath: '/rest/v1' })
})

test('413: of a body that is too large nothing is stored', async () => {
  const before = await lading.sql`select count(*) from api.locations`
  const location = { business_id: lading.a.id, name: 'Large', additional_fields: { text: 'x'.repeat(10_000_000) } }
  const answer = await lading.a.rest.post('/locations', location)
  expect(answer).toMatchObject({ status: 413, body: { code: 'PT413', details: null, hint: null } })
  const streamed = await fetch(`${lading.restUrl}/locations`, {
    method: 'POST',
    duplex: 'half',
    headers: {
      apikey: lading.applicationKey,
      Authorization: `Bearer ${lading.a.key}`,
      'Content-Type': 'application/json',
    },
    body: new Blob([JSON.stringify(location)]).stream(),
  } as RequestInit)
  expect(streamed.status).toBe(413)
  expect(await lading.sql`select count(*) from api.locations`).toEqual(before)
})

test('a body just below the limit is stored', async () => {
  const location = { business_id: lading.a.id, name: 'Fits', additional_fields: { text: 'x'.repeat(9_900_000) } }
  expect((await lading.a.rest.post('/locations', location)).status).toBe(201)
})

test('a client that goes away takes its query with it, and the next one is served', async () => {
  const slow = new AbortController()
  const answer = fetch(`${lading.restUrl}/businesses`, {
    headers: { apikey: lading.applicationKey, Authorization: `Bearer ${lading.a.key}` },
    signal: slow.signal,
  })
  slow.abort()
  await expect(answer).rejects.toThrow()
  expect((await lading.a.rest.get('/businesses')).status).toBe(200)
})
