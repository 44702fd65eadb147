import { randomBytes } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { startLading } from '../harness/lading.ts'
import { altered, claimsOf, readSigningSecret, signed, unsigned } from './jwt.ts'

const lading = await startLading()
const secret = await readSigningSecret(lading.sql)

const refusedWith = (message: string) => ({
  status: 401,
  body: { code: 'PT401', details: null, hint: null, message },
})

describe('the header apikey', () => {
  const call = (applicationKey: string | null) => lading.rest(lading.a.key, applicationKey).get('/businesses')

  test('missing: 401, also with a valid key', async () => {
    expect(await call(null)).toMatchObject(refusedWith('Header apikey is missing'))
  })

  test('empty: 401', async () => {
    expect(await call('')).toMatchObject(refusedWith('Header apikey is missing'))
  })

  const unknown = refusedWith('Header apikey: unknown or revoked application key')

  test('unknown: 401', async () => {
    expect(await call('anything')).toMatchObject(unknown)
  })

  test('with a good signature, but never issued: 401', async () => {
    expect(await call(signed({ role: 'anon', aud: 'lading' }, secret))).toMatchObject(unknown)
  })

  test('an API key is no application key: 401', async () => {
    expect(await call(lading.a.key)).toMatchObject(unknown)
    expect(await call(lading.operatorKey)).toMatchObject(unknown)
  })
})

describe('the header Authorization', () => {
  const call = (key: string | null) => lading.rest(key).get('/businesses')
  const missing = refusedWith('Header Authorization: a Bearer API key is missing')
  const unknown = refusedWith('Header Authorization: unknown or revoked API key')

  test('missing: 401', async () => {
    expect(await call(null)).toMatchObject(missing)
  })

  test('of another scheme: 401', async () => {
    const answer = await lading.rest(null).get('/businesses', { Authorization: `Basic ${lading.a.key}` })
    expect(answer).toMatchObject(missing)
  })

  test('the scheme may be written in any case, as HTTP has it', async () => {
    const answer = await lading.rest(null).get('/businesses', { Authorization: `bearer ${lading.a.key}` })
    expect(answer.status).toBe(200)
  })

  test('an application key acts for nobody: 401', async () => {
    expect(await call(lading.applicationKey)).toMatchObject(unknown)
  })

  test('a key with a good signature that was never issued grants nothing: 401', async () => {
    for (const role of ['business', 'operator', 'warehouse']) {
      const claims = { ...claimsOf(lading.a.key), role }
      expect(await call(signed({ ...claims, iat: 1 }, secret)), role).toMatchObject(unknown)
    }
  })

  test('a key of one business whose signature is made anew with role operator: 401', async () => {
    expect(await call(signed({ ...claimsOf(lading.a.key), role: 'operator' }, secret))).toMatchObject(unknown)
  })

  test.each(['authenticator', 'lading', 'postgres', 'pg_read_all_data'])(
    'the role %s is not to be had, even with a good signature',
    async (role) => {
      const answer = await call(signed({ ...claimsOf(lading.a.key), role }, secret))
      expect([401, 403]).toContain(answer.status)
    },
  )

  test.each([
    ['not a JWT', 'anything'],
    ['its role altered under the old signature', altered(lading.a.key, { role: 'operator' })],
    ['its jti altered under the old signature', altered(lading.a.key, { jti: claimsOf(lading.operatorKey).jti })],
    ['alg none', unsigned({ ...claimsOf(lading.a.key), role: 'operator' })],
    ['alg none with the claims of a real key', unsigned(claimsOf(lading.a.key))],
    ['signed with a foreign secret', signed(claimsOf(lading.a.key), randomBytes(48))],
    ['signed with an empty secret', signed(claimsOf(lading.a.key), Buffer.alloc(0))],
    ['for another audience', signed({ ...claimsOf(lading.a.key), aud: 'another' }, secret)],
    ['expired', signed({ ...claimsOf(lading.a.key), exp: 1 }, secret)],
    ['cut short', lading.a.key.slice(0, -1)],
  ])('%s: 401', async (_reason, key) => {
    const answer = await call(key)
    expect(answer).toMatchObject({ status: 401, body: { message: expect.stringMatching(/./) } })
  })
})

describe('what the keys say', () => {
  test('an API key carries role, jti, iat and aud, and no business', () => {
    expect(Object.keys(claimsOf(lading.a.key)).sort()).toEqual(['aud', 'iat', 'jti', 'role'])
    expect(claimsOf(lading.a.key)).toMatchObject({ role: 'business', aud: 'lading' })
  })

  test('an application key has role anon, so that clients may sign in with it as their key', () => {
    expect(claimsOf(lading.applicationKey)).toMatchObject({ role: 'anon', aud: 'lading' })
  })
})

test('the business is read from the row of the key: a key moved there acts for another business at once', async () => {
  const { key } = (
    await lading.a.rest.rpc<{ key: string }>('create_api_key', { business_id: lading.a.id, name: 'moves' })
  ).body
  const see = () => lading.rest(key).get<{ id: string }[]>('/businesses?select=id')
  expect((await see()).body).toEqual([{ id: lading.a.id }])
  await lading.sql`update internal.api_keys set business_id = ${lading.b.id} where name = 'moves'`
  expect((await see()).body).toEqual([{ id: lading.b.id }])
})
