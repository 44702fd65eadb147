import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { startLading } from '../harness/lading.ts'

interface Issued {
  id: string
  key: string
}

const lading = await startLading()

test('an operator issues an application key, and it is revoked with the next request', async () => {
  const { status, body } = await lading.operator.rpc<Issued>('create_application_key', { name: 'warehouse app' })
  expect(status).toBe(200)
  expect(Object.keys(body).sort()).toEqual(['id', 'key'])
  const client = lading.rest(lading.a.key, body.key)
  expect((await client.get('/orders')).status).toBe(200)

  expect((await lading.operator.rpc('revoke_application_key', { id: body.id })).status).toBe(204)
  expect(await client.get('/orders')).toMatchObject({
    status: 401,
    body: { message: 'Header apikey: unknown or revoked application key' },
  })
})

test('no other key issues or revokes one', async () => {
  const { body: issued } = await lading.operator.rpc<Issued>('create_application_key', { name: 'stays' })
  for (const [key, status] of [
    [lading.a.key, 403],
    [lading.a.warehouseKey, 403],
    [null, 401],
  ] as const) {
    const rest = lading.rest(key)
    expect((await rest.rpc('create_application_key', { name: 'x' })).status).toBe(status)
    expect((await rest.rpc('revoke_application_key', { id: issued.id })).status).toBe(status)
  }
  expect((await lading.rest(lading.a.key, issued.key).get('/orders')).status).toBe(200)
})

test('a name is required: 400', async () => {
  for (const parameters of [{ name: '' }, { name: null }]) {
    const answer = await lading.operator.rpc('create_application_key', parameters)
    expect(answer).toMatchObject({ status: 400, body: { message: 'name: is required' } })
  }
})

test('an unknown one cannot be revoked: 404', async () => {
  const answer = await lading.operator.rpc('revoke_application_key', { id: randomUUID() })
  expect(answer).toMatchObject({ status: 404, body: { message: 'id: no such application key' } })
})

test('operators list them, without the keys', async () => {
  const { body } = await lading.operator.get<Record<string, unknown>[]>('/application_keys?name=eq.test')
  expect(body.map((row) => Object.keys(row).sort())).toEqual([['creation_time', 'id', 'name', 'revoked_time']])
})
