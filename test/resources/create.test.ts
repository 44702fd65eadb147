import { describe, expect, test } from 'vitest'
import { startLading } from '../harness/lading.ts'

interface Location {
  id: string
  name: string
  legacy_id: number | null
  is_virtual: boolean
}

const lading = await startLading()
const business_id = lading.a.id
const create = (body: unknown, prefer?: string, query = '') =>
  lading.a.rest.post<Location[] | null>(`/locations${query}`, body, prefer === undefined ? {} : { Prefer: prefer })
const stored = async (name: string) =>
  (await lading.a.rest.get<Location[]>(`/locations?name=like.${encodeURIComponent(name)}&order=name`)).body

describe('Prefer', () => {
  test.each([undefined, 'return=minimal', 'return=none'])('%s: 201 without a body', async (prefer) => {
    expect(await create({ business_id, name: `Dock ${prefer}` }, prefer)).toMatchObject({ status: 201, body: null })
    expect(await stored(`Dock ${prefer}`)).toHaveLength(1)
  })

  test('return=representation: 201 with what was stored, or the columns that select names', async () => {
    const whole = await create({ business_id, name: 'Whole' }, 'return=representation')
    expect(whole).toMatchObject({ status: 201, body: [{ business_id, name: 'Whole', is_virtual: false }] })
    const part = await create({ business_id, name: 'Part' }, 'return=representation', '?select=name')
    expect(part).toMatchObject({ status: 201, body: [{ name: 'Part' }] })
    expect(Object.keys(part.body?.[0] ?? {})).toEqual(['name'])
  })

  test('return=headers-only: the address of the new record', async () => {
    const { status, headers } = await create({ business_id, name: 'Addressed' }, 'return=headers-only')
    expect(status).toBe(201)
    const [location] = await stored('Addressed')
    expect(headers.get('location')).toBe(`${lading.restUrl}/locations?id=eq.${location?.id}`)
  })

  test('without resolution a record that is there already: 409', async () => {
    await create({ business_id, name: 'Once' })
    expect(await create({ business_id, name: 'Once' })).toMatchObject({ status: 409, body: { code: '23505' } })
  })

  test('resolution=ignore-duplicates leaves what is there, with the primary key or on_conflict', async () => {
    const [first] = (await create({ business_id, name: 'Kept', legacy_id: 1 }, 'return=representation')).body ?? []
    const prefer = 'resolution=ignore-duplicates, return=representation'
    expect((await create({ id: first?.id, business_id, name: 'Other' }, prefer)).body).toEqual([])
    const named = await create({ business_id, name: 'Kept', legacy_id: 2 }, prefer, '?on_conflict=business_id,name')
    expect(named.body).toEqual([])
    expect(await stored('Kept')).toMatchObject([{ id: first?.id, legacy_id: 1 }])
  })

  test('resolution=merge-duplicates changes what is there, with the primary key or on_conflict', async () => {
    const [first] = (await create({ business_id, name: 'Merged' }, 'return=representation')).body ?? []
    const prefer = 'resolution=merge-duplicates, return=representation'
    const byId = await create({ id: first?.id, business_id, name: 'Merged', legacy_id: 31 }, prefer)
    expect(byId.body).toMatchObject([{ id: first?.id, legacy_id: 31 }])
    const byName = await create(
      [
        { business_id, name: 'Merged', legacy_id: 32 },
        { business_id, name: 'Merged too', legacy_id: 33 },
      ],
      prefer,
      '?on_conflict=business_id,name',
    )
    expect(byName.body).toMatchObject([{ id: first?.id, legacy_id: 32 }, { legacy_id: 33 }])
    expect(await stored('Merged*')).toHaveLength(2)
  })

  test('tx=rollback answers what would have been, and stores nothing', async () => {
    const answer = await create({ business_id, name: 'Dry' }, 'return=representation, tx=rollback')
    expect(answer).toMatchObject({ status: 201, body: [{ name: 'Dry' }] })
    expect(await stored('Dry')).toEqual([])
  })

  test('missing=default uses the defaults of columns that only some rows name', async () => {
    const answer = await create(
      [
        { business_id, name: 'Bulk v', is_virtual: true },
        { business_id, name: 'Bulk w' },
      ],
      'return=representation, missing=default',
      '?columns=business_id,name,is_virtual',
    )
    expect(answer.body).toMatchObject([{ is_virtual: true }, { is_virtual: false }])
  })
})

describe('in bulk', () => {
  test('an array of records is stored in one go', async () => {
    const rows = Array.from({ length: 500 }, (_, n) => ({ business_id, name: `Shelf ${String(n).padStart(3, '0')}` }))
    expect((await create(rows)).status).toBe(201)
    expect(await stored('Shelf*')).toHaveLength(500)
  })

  test('all or nothing: one wrong record stores none', async () => {
    const rows = [
      { business_id, name: 'Rack 1' },
      { business_id, name: '' },
    ]
    expect((await create(rows)).status).toBe(400)
    expect(await stored('Rack*')).toEqual([])
  })

  test('an empty array stores nothing', async () => {
    expect((await create([])).status).toBe(201)
  })
})

test('PUT creates or replaces the record of a key', async () => {
  const id = crypto.randomUUID()
  const whole = {
    ...{ id, business_id, name: 'Put', legacy_id: 77, is_virtual: false, address_id: null },
    ...{ external_ids: null, additional_fields: null, creation_time: '2026-01-01T00:00:00Z', update_time: null },
  }
  const put = (body: unknown) => lading.a.rest.put(`/locations?id=eq.${id}`, body)
  expect([200, 201, 204]).toContain((await put(whole)).status)
  expect([200, 201, 204]).toContain((await put({ ...whole, name: 'Put again' })).status)
  expect(await stored('Put*')).toMatchObject([{ id, name: 'Put again' }])
})
