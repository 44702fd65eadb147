import { describe, expect, test } from 'vitest'
import { startLading } from '../harness/lading.ts'

const lading = await startLading()
const representation = { Prefer: 'return=representation' }

describe('a business key', () => {
  test('reads its own business only', async () => {
    expect((await lading.a.rest.get('/businesses?select=id,name')).body).toEqual([
      { id: lading.a.id, name: lading.a.name },
    ])
    expect((await lading.a.rest.get(`/businesses?id=eq.${lading.b.id}`)).body).toEqual([])
  })

  test('updates its own business', async () => {
    const changes = { timezone_id: 'Europe/Berlin', alphabetic_currency_code: 'EUR' }
    const answer = await lading.a.rest.patch(`/businesses?id=eq.${lading.a.id}`, changes, representation)
    expect(answer).toMatchObject({ status: 200, body: [changes] })
  })

  test('does not update another: 0 rows, with a filter and without', async () => {
    const named = await lading.a.rest.patch(`/businesses?id=eq.${lading.b.id}`, { name: 'taken' }, representation)
    expect(named).toMatchObject({ status: 200, body: [] })
    const every = await lading.a.rest.patch('/businesses?name=not.is.null', { legacy_id: 7 }, representation)
    expect(every).toMatchObject({ status: 200, body: [{ id: lading.a.id }] })
    const stored = await lading.b.rest.get('/businesses?select=name,legacy_id')
    expect(stored.body).toEqual([{ name: lading.b.name, legacy_id: null }])
  })

  test('creates and deletes none: 403', async () => {
    expect((await lading.a.rest.post('/businesses', { name: 'another' })).status).toBe(403)
    expect((await lading.a.rest.delete(`/businesses?id=eq.${lading.a.id}`)).status).toBe(403)
  })

  test('cannot take the id of another business, nor give its own away', async () => {
    const answer = await lading.a.rest.patch(`/businesses?id=eq.${lading.a.id}`, { id: lading.b.id })
    expect([403, 409]).toContain(answer.status)
    expect((await lading.a.rest.get('/businesses?select=id')).body).toEqual([{ id: lading.a.id }])
  })
})

describe('an operator', () => {
  test('creates, reads, updates and deletes businesses', async () => {
    const created = await lading.operator.post<{ id: string }[]>('/businesses', { name: 'New' }, representation)
    expect(created.status).toBe(201)
    const path = `/businesses?id=eq.${created.body[0]?.id}`
    expect((await lading.operator.patch(path, { name: 'Newer' }, representation)).body).toMatchObject([
      { name: 'Newer' },
    ])
    expect((await lading.operator.delete(path)).status).toBe(204)
    expect((await lading.operator.get(path)).body).toEqual([])
  })

  test('does not delete a business that has records: 409', async () => {
    const owner = await lading.addBusiness('Owner')
    await owner.rest.post('/locations', { business_id: owner.id, name: 'Dock' })
    expect((await lading.operator.delete(`/businesses?id=eq.${owner.id}`)).status).toBe(409)
  })

  test('the keys of a deleted business are gone with it: 401', async () => {
    const gone = await lading.addBusiness('Gone')
    expect((await gone.rest.get('/orders')).status).toBe(200)
    expect((await lading.operator.delete(`/businesses?id=eq.${gone.id}`)).status).toBe(204)
    expect((await gone.rest.get('/orders')).status).toBe(401)
  })
})

describe('what a business says of itself', () => {
  const patch = (changes: unknown) => lading.a.rest.patch(`/businesses?id=eq.${lading.a.id}`, changes)

  test('the currency is one of ISO 4217: 409 otherwise', async () => {
    expect((await patch({ alphabetic_currency_code: 'XYZ' })).status).toBe(409)
  })

  test('the name is not empty: 400 naming the column', async () => {
    expect(await patch({ name: '' })).toMatchObject({ status: 400, body: { message: expect.stringContaining('name') } })
  })
})
