import { expect, test } from 'vitest'
import { startLading } from '../harness/lading.ts'

const lading = await startLading()

test('what one request set is gone with the next, on whichever connection it runs', async () => {
  const asked = Array.from({ length: 100 }, (_, n) => [lading.a, lading.b][n % 2] ?? lading.a)
  const seen = await Promise.all(asked.map((business) => business.rest.get('/businesses?select=id')))
  expect(seen.map((answer) => answer.body)).toEqual(asked.map((business) => [{ id: business.id }]))
})

test('a client cannot name its business: no header or parameter replaces the row of its key', async () => {
  const answer = await lading.a.rest.get(`/businesses?select=id`, {
    'lading.business_id': lading.b.id,
    business_id: lading.b.id,
    'X-Business-Id': lading.b.id,
  })
  expect(answer.body).toEqual([{ id: lading.a.id }])
})

test.each(['internal', 'public', 'pg_catalog', 'graphile_worker'])(
  'no table of the schema %s is served, to operators neither, whatever the headers say: 4xx',
  async (schema) => {
    for (const table of ['signing_secrets', 'settings', 'pg_authid', 'jobs']) {
      const { status } = await lading.operator.get(`/${table}`, { 'Accept-Profile': schema })
      expect([404, 406]).toContain(status)
    }
  },
)

test('functions of internal cannot be called: 404', async () => {
  for (const name of ['rotate_signing_secret', 'issue_key', 'act_as', 'postgrest_config', 'check_request']) {
    expect((await lading.operator.rpc(name)).status, name).toBe(404)
  }
})

test('a warehouse key may only post callbacks: 403 on tables and calls', async () => {
  const warehouse = lading.rest(lading.a.warehouseKey)
  const answers = await Promise.all([
    warehouse.get('/orders'),
    warehouse.post('/locations', { business_id: lading.a.id, name: 'x' }),
    warehouse.get('/enum_values'),
    warehouse.rpc('create_api_key', { business_id: lading.a.id, name: 'x' }),
  ])
  for (const answer of answers) expect(answer).toMatchObject({ status: 403, body: { code: '42501' } })
})
