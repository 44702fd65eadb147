import { describe, expect, test } from 'vitest'
import { startLading } from '../harness/lading.ts'

const lading = await startLading()
const business_id = lading.a.id
const representation = { Prefer: 'return=representation' }

const create = async (...names: string[]): Promise<string[]> => {
  const { body } = await lading.a.rest.post<{ id: string }[]>(
    '/customers',
    names.map((name) => ({ business_id, name })),
    representation,
  )
  return body.map((row) => row.id)
}
const read = async (query: string) => (await lading.a.rest.get<unknown[]>(`/customers?${query}`)).body

describe('PATCH', () => {
  test.each([undefined, 'return=minimal', 'return=none'])('%s: 204 without a body', async (prefer) => {
    const [id] = await create('Ada')
    const headers = prefer === undefined ? {} : { Prefer: prefer }
    const answer = await lading.a.rest.patch(`/customers?id=eq.${id}`, { phone: '1' }, headers)
    expect(answer).toMatchObject({ status: 204, body: null })
    expect(await read(`id=eq.${id}&select=phone`)).toEqual([{ phone: '1' }])
  })

  test('return=representation: 200 with the changed records, the columns that select names', async () => {
    await create('Bert', 'Bert')
    const path = '/customers?name=eq.Bert&select=name,email'
    const answer = await lading.a.rest.patch(path, { email: 'b@example.com' }, representation)
    const changed = { name: 'Bert', email: 'b@example.com' }
    expect(answer).toMatchObject({ status: 200, body: [changed, changed] })
  })

  test('changes the fields that it names only', async () => {
    const [id] = await create('Cleo')
    await lading.a.rest.patch(`/customers?id=eq.${id}`, { phone: '2' })
    await lading.a.rest.patch(`/customers?id=eq.${id}`, { email: 'c@example.com' })
    expect(await read(`id=eq.${id}&select=name,phone,email`)).toEqual([
      { name: 'Cleo', phone: '2', email: 'c@example.com' },
    ])
  })

  test('that finds nothing changes nothing', async () => {
    const path = `/customers?id=eq.${crypto.randomUUID()}`
    expect((await lading.a.rest.patch(path, { phone: '3' })).status).toBe(204)
    expect(await lading.a.rest.patch(path, { phone: '3' }, representation)).toMatchObject({ status: 200, body: [] })
  })

  test('with a value of the wrong type: 400', async () => {
    const [id] = await create('Dora')
    expect((await lading.a.rest.patch(`/customers?id=eq.${id}`, { external_ids: 'x' })).status).toBe(400)
    expect((await lading.a.rest.patch(`/customers?id=eq.${id}`, { colour: 'blue' })).status).toBe(400)
    expect((await lading.a.rest.patch('/customers?id=eq.1', { phone: '4' })).status).toBe(400)
  })
})

describe('DELETE', () => {
  test.each([undefined, 'return=minimal', 'return=none'])('%s: 204 without a body', async (prefer) => {
    const [id] = await create('Emil')
    const answer = await lading.a.rest.delete(`/customers?id=eq.${id}`, prefer === undefined ? {} : { Prefer: prefer })
    expect(answer).toMatchObject({ status: 204, body: null })
    expect(await read(`id=eq.${id}`)).toEqual([])
  })

  test('return=representation: 200 with what is gone', async () => {
    await create('Fritz', 'Fritz')
    const answer = await lading.a.rest.delete('/customers?name=eq.Fritz&select=name', representation)
    expect(answer).toMatchObject({ status: 200, body: [{ name: 'Fritz' }, { name: 'Fritz' }] })
  })

  test('of a record that others refer to: 409, and it stays', async () => {
    const [id] = await create('Gerda')
    await lading.a.rest.post('/orders', { business_id, customer_id: id })
    expect(await lading.a.rest.delete(`/customers?id=eq.${id}`)).toMatchObject({ status: 409, body: { code: '23503' } })
    expect(await read(`id=eq.${id}`)).toHaveLength(1)
  })
})
