import { afterAll, expect, test } from 'vitest'
import { connect } from '../../stack/database.ts'
import { startLading } from '../harness/lading.ts'

const lading = await startLading()
const authenticator = connect(lading.authenticatorUrl)
afterAll(() => authenticator.end())

const as = (role: string, statement: string) =>
  authenticator.begin(async (tx) => {
    if (role !== 'authenticator') await tx.unsafe(`set local role ${role}`)
    return tx.unsafe(statement)
  })

const roles = ['authenticator', 'anon', 'business', 'warehouse', 'operator']

test.each(
  [
    'select secret from internal.signing_secrets',
    'select count(*) from internal.signing_secrets',
    'select key_hash from internal.api_keys',
    'select key_hash from internal.application_keys',
    'select * from internal.webhook_secrets',
    'select * from internal.send_orders_secrets',
    'select * from internal.settings',
    `select internal.issue_key('operator', 'x')`,
    `select internal.issue_application_key('x')`,
    'select internal.rotate_signing_secret()',
    `select internal.retire_signing_secret(uuidv7())`,
    `select internal.sign_key('operator', uuidv7(), 'secret')`,
    `select internal.set_public_url('http://127.0.0.1')`,
  ].flatMap((statement) => roles.map((role) => [role, statement] as const)),
)('%s is denied: %s', async (role, statement) => {
  await expect(as(role, statement)).rejects.toMatchObject({ code: '42501' })
})

test('PostgREST alone is handed the secret, by postgrest_config', async () => {
  const read = `select internal.postgrest_config(); select current_setting('pgrst.jwt_secret', true) as secret`
  for (const role of roles.slice(1)) {
    await expect(as(role, read), role).rejects.toMatchObject({ code: '42501' })
  }
  const [, config] = await as('authenticator', read)
  expect(JSON.parse(config?.[0].secret)).toMatchObject({ keys: [{ kty: 'oct', alg: 'HS256' }] })
})

test('it is handed over for a transaction: no later one on the connection finds it', async () => {
  await as('authenticator', 'select internal.postgrest_config()')
  const [later] = await as('business', `select current_setting('pgrst.jwt_secret', true) as secret`)
  expect(later?.secret ?? '').toBe('')
})

test('the authenticator itself reads no table: only the roles of keys do', async () => {
  for (const table of ['orders', 'businesses', 'api_keys']) {
    await expect(as('authenticator', `select * from api.${table}`)).rejects.toMatchObject({ code: '42501' })
  }
})
