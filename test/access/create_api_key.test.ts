import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { startLading } from '../harness/lading.ts'
import type { RestClient } from '../harness/rest_client.ts'

interface Issued {
  id: string
  key: string
}

const lading = await startLading()
const warehouse = lading.rest(lading.a.warehouseKey)
const nobody = lading.rest(null)

const create = (rest: RestClient, parameters: Record<string, unknown>) => rest.rpc<Issued>('create_api_key', parameters)
const countKeys = async (): Promise<unknown> => (await lading.sql`select count(*) from internal.api_keys`)[0]?.count

describe('create_api_key', () => {
  test('a business key issues a business key of its own business, which works at once', async () => {
    const { status, body } = await create(lading.a.rest, { business_id: lading.a.id, name: 'erp', role: 'business' })
    expect(status).toBe(200)
    expect(Object.keys(body).sort()).toEqual(['id', 'key'])
    const seen = await lading.rest(body.key).get('/businesses?select=id')
    expect(seen).toMatchObject({ status: 200, body: [{ id: lading.a.id }] })
  })

  test('a business key issues a warehouse key, which may read nothing', async () => {
    const { body } = await create(lading.a.rest, { business_id: lading.a.id, name: 'dock 3', role: 'warehouse' })
    expect((await lading.rest(body.key).get('/businesses')).status).toBe(403)
  })

  test('the role is business unless told', async () => {
    const { body } = await create(lading.a.rest, { business_id: lading.a.id, name: 'no role' })
    expect((await lading.a.rest.get(`/api_keys?id=eq.${body.id}&select=role`)).body).toEqual([{ role: 'business' }])
  })

  test('an operator issues keys of any role and business', async () => {
    for (const role of ['business', 'warehouse']) {
      expect((await create(lading.operator, { business_id: lading.b.id, name: role, role })).status).toBe(200)
    }
    const { body } = await create(lading.operator, { name: 'second operator', role: 'operator' })
    expect((await lading.rest(body.key).get<unknown[]>('/businesses')).body).toHaveLength(2)
  })

  test('a business key for another business is refused: 403, nothing issued', async () => {
    const before = await countKeys()
    for (const role of ['business', 'warehouse']) {
      expect((await create(lading.a.rest, { business_id: lading.b.id, name: 'x', role })).status).toBe(403)
    }
    expect((await create(lading.a.rest, { business_id: randomUUID(), name: 'x' })).status).toBe(403)
    expect(await countKeys()).toEqual(before)
  })

  test('an operator key is not for a business key to issue: 403', async () => {
    const before = await countKeys()
    expect((await create(lading.a.rest, { name: 'x', role: 'operator' })).status).toBe(403)
    expect(await countKeys()).toEqual(before)
  })

  test('a warehouse key and a caller without a key issue nothing', async () => {
    const before = await countKeys()
    expect((await create(warehouse, { business_id: lading.a.id, name: 'x' })).status).toBe(403)
    expect((await create(nobody, { business_id: lading.a.id, name: 'x' })).status).toBe(401)
    expect(await countKeys()).toEqual(before)
  })

  test.each([
    ['name: is required', { business_id: 'own' }],
    ['name: is required', { business_id: 'own', name: '' }],
    ['role: must be business, warehouse or operator', { business_id: 'own', name: 'x', role: 'anon' }],
    ['role: must be business, warehouse or operator', { business_id: 'own', name: 'x', role: null }],
    [
      'business_id: is required for a business or warehouse key, and not allowed for an operator key',
      { name: 'x', role: 'business' },
    ],
    [
      'business_id: is required for a business or warehouse key, and not allowed for an operator key',
      { business_id: 'own', name: 'x', role: 'operator' },
    ],
  ])('%s: 400', async (message, { business_id, ...parameters }: { business_id?: string; [name: string]: unknown }) => {
    const given = business_id === undefined ? parameters : { ...parameters, business_id: lading.a.id }
    for (const rest of [lading.a.rest, lading.operator]) {
      expect(await create(rest, given)).toMatchObject({ status: 400, body: { code: 'P0001', message } })
    }
  })

  test('a business that does not exist: 400 for an operator', async () => {
    const id = randomUUID()
    const answer = await create(lading.operator, { business_id: id, name: 'x' })
    expect(answer).toMatchObject({ status: 400, body: { message: `business_id: no business "${id}"` } })
  })
})

describe('revoke_api_key', () => {
  const revoke = (rest: RestClient, id: string) => rest.rpc('revoke_api_key', { id })

  test('a revoked key stops working with the next request', async () => {
    const { body: issued } = await create(lading.a.rest, { business_id: lading.a.id, name: 'short lived' })
    const client = lading.rest(issued.key)
    expect((await client.get('/orders')).status).toBe(200)
    expect((await revoke(lading.a.rest, issued.id)).status).toBe(204)
    expect(await client.get('/orders')).toMatchObject({
      status: 401,
      body: { message: 'Header Authorization: unknown or revoked API key' },
    })
  })

  test('a key may revoke itself', async () => {
    const { body: issued } = await create(lading.a.rest, { business_id: lading.a.id, name: 'ends itself' })
    const client = lading.rest(issued.key)
    expect((await revoke(client, issued.id)).status).toBe(204)
    expect((await client.get('/orders')).status).toBe(401)
  })

  test('an operator revokes any key', async () => {
    const { body: issued } = await create(lading.b.rest, { business_id: lading.b.id, name: 'of b' })
    expect((await revoke(lading.operator, issued.id)).status).toBe(204)
    expect((await lading.rest(issued.key).get('/orders')).status).toBe(401)
  })

  test('revoking twice keeps the first time', async () => {
    const { body: issued } = await create(lading.a.rest, { business_id: lading.a.id, name: 'twice' })
    const time = async () => (await lading.a.rest.get(`/api_keys?id=eq.${issued.id}&select=revoked_time`)).body
    await revoke(lading.a.rest, issued.id)
    const first = await time()
    expect((await revoke(lading.a.rest, issued.id)).status).toBe(204)
    expect(await time()).toEqual(first)
  })

  test('a key of another business, an operator key or an unknown one is not there: 404, and it works on', async () => {
    const { body: ofB } = await create(lading.b.rest, { business_id: lading.b.id, name: 'stays' })
    const { body: ofOperator } = await create(lading.operator, { name: 'stays', role: 'operator' })
    for (const id of [ofB.id, ofOperator.id, randomUUID()]) {
      expect(await revoke(lading.a.rest, id)).toMatchObject({ status: 404, body: { message: 'id: no such API key' } })
    }
    expect((await lading.rest(ofB.key).get('/orders')).status).toBe(200)
    expect((await lading.rest(ofOperator.key).get('/orders')).status).toBe(200)
  })

  test('a warehouse key and a caller without a key revoke nothing', async () => {
    const { body: issued } = await create(lading.a.rest, { business_id: lading.a.id, name: 'stays too' })
    expect((await revoke(warehouse, issued.id)).status).toBe(403)
    expect((await revoke(nobody, issued.id)).status).toBe(401)
    expect((await lading.rest(issued.key).get('/orders')).status).toBe(200)
  })
})
