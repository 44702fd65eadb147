import { describe, expect, test } from 'vitest'
import { readResources } from '../access/exposed.ts'
import { startLading } from '../harness/lading.ts'

interface Step {
  id: string
  auth_query_field: string | null
  auth_query_value: string | null
}

const lading = await startLading()
const SECRET = 'sesame-7f3a91'
const representation = { Prefer: 'return=representation' }

const create = (row: Record<string, unknown>, prefer = 'return=representation') =>
  lading.a.rest.post<Step[]>(
    '/send_orders_steps',
    { business_id: lading.a.id, payload_url: 'https://w.example', ...row },
    { Prefer: prefer },
  )
const change = (id: string | undefined, row: Record<string, unknown>) =>
  lading.a.rest.patch<Step[]>(`/send_orders_steps?id=eq.${id}`, row, representation)
const storedFor = async (id: string | undefined): Promise<unknown> => {
  const [row] = await lading.sql`
    select auth_query_value from internal.send_orders_secrets where send_orders_step_id = ${id ?? null}`
  return row?.auth_query_value
}

describe('the value', () => {
  test('is taken, stored apart, and answered as null', async () => {
    const { status, body } = await create({ auth_query_field: 'token', auth_query_value: SECRET })
    expect(status).toBe(201)
    expect(body[0]).toMatchObject({ auth_query_field: 'token', auth_query_value: null })
    expect(await storedFor(body[0]?.id)).toBe(SECRET)
  })

  test('replaces what was stored', async () => {
    const [step] = (await create({ auth_query_field: 'token', auth_query_value: 'first' })).body
    expect((await change(step?.id, { auth_query_value: 'second' })).body).toMatchObject([{ auth_query_value: null }])
    expect(await storedFor(step?.id)).toBe('second')
  })

  test('stays when null is sent, as a client does that writes back what it read', async () => {
    const [step] = (await create({ auth_query_field: 'token', auth_query_value: 'kept' })).body
    await change(step?.id, { name: 'Renamed', auth_query_value: null })
    expect(await storedFor(step?.id)).toBe('kept')
  })

  test('is forgotten with its field', async () => {
    const [step] = (await create({ auth_query_field: 'token', auth_query_value: 'old' })).body
    await change(step?.id, { auth_query_field: null })
    expect(await storedFor(step?.id)).toBeUndefined()
  })

  test('without a field is refused: 400, without repeating it', async () => {
    const answer = await create({ auth_query_value: SECRET })
    expect(answer).toMatchObject({
      status: 400,
      body: { message: 'auth_query_field: is required with auth_query_value' },
    })
    expect(JSON.stringify(answer.body)).not.toContain(SECRET)
  })

  test('of several steps in one request each gets its own', async () => {
    const rows = [1, 2, 3].map((n) => ({
      business_id: lading.a.id,
      payload_url: 'https://w.example',
      auth_query_field: 'token',
      auth_query_value: `value ${n}`,
    }))
    const { body } = await lading.a.rest.post<Step[]>('/send_orders_steps', rows, representation)
    expect(await Promise.all(body.map((step) => storedFor(step.id)))).toEqual(['value 1', 'value 2', 'value 3'])
  })

  test('follows an upsert that merges, and not one that ignores', async () => {
    const [step] = (await create({ auth_query_field: 'token', auth_query_value: 'before' })).body
    const again = { id: step?.id, auth_query_field: 'token' }
    await create({ ...again, auth_query_value: 'ignored' }, 'resolution=ignore-duplicates')
    expect(await storedFor(step?.id)).toBe('before')
    await create({ ...again, auth_query_value: 'merged' }, 'resolution=merge-duplicates')
    expect(await storedFor(step?.id)).toBe('merged')
  })

  test('goes with its step', async () => {
    const [step] = (await create({ auth_query_field: 'token', auth_query_value: 'gone' })).body
    await lading.a.rest.delete(`/send_orders_steps?id=eq.${step?.id}`)
    expect(await storedFor(step?.id)).toBeUndefined()
  })

  test('cannot be searched for', async () => {
    await create({ auth_query_field: 'token', auth_query_value: SECRET })
    const { body } = await lading.operator.get(`/send_orders_steps?auth_query_value=eq.${SECRET}`)
    expect(body).toEqual([])
  })
})

describe('nobody is shown it', () => {
  const failing: [string, Record<string, unknown>][] = [
    ['a check', { payload_url: 'nowhere' }],
    ['the location map', { warehouse_location_map: [{ locationId: 'x' }] }],
    ['an empty field', { auth_query_field: '' }],
    ['a wrong type', { is_enabled: 'perhaps' }],
    ['a missing business', { business_id: null }],
    ['another business', { business_id: lading.b.id }],
  ]

  test.each(failing)('in the error of a record that fails by %s', async (_reason, row) => {
    for (const rest of [lading.a.rest, lading.operator]) {
      const step = { business_id: lading.a.id, auth_query_field: 'token', auth_query_value: SECRET }
      const { status, body } = await rest.post('/send_orders_steps', {
        ...step,
        payload_url: 'https://w.example',
        ...row,
      })
      if (rest === lading.a.rest) expect(status).toBeGreaterThanOrEqual(400)
      expect(JSON.stringify(body)).not.toContain(SECRET)
    }
  })

  test('in any resource, in JSON or CSV, nor in the OpenAPI document', async () => {
    await create({ auth_query_field: 'token', auth_query_value: SECRET })
    const paths = ['/', ...(await readResources(lading.sql)).map(({ name }) => `/${name}`)]
    for (const path of paths) {
      for (const rest of [lading.a.rest, lading.operator]) {
        expect(JSON.stringify((await rest.get(path)).body), path).not.toContain(SECRET)
      }
    }
    const csv = await lading.a.rest.get('/send_orders_steps', { Accept: 'text/csv' })
    expect(csv.status).toBe(200)
    expect(csv.body).not.toContain(SECRET)
  })

  test('in any table but the one that only the owner reads', async () => {
    await create({ auth_query_field: 'token', auth_query_value: SECRET })
    const tables = await lading.sql<{ name: string }[]>`
      select format('%I.%I', schemaname, tablename) as name
      from pg_tables where schemaname not in ('pg_catalog', 'information_schema')`
    const holding: string[] = []
    for (const { name } of tables) {
      const [found] = await lading.sql.unsafe(`select from ${name} t where strpos(t::text, $1) > 0 limit 1`, [SECRET])
      if (found !== undefined) holding.push(name)
    }
    expect(holding).toEqual(['internal.send_orders_secrets'])
  })
})
