import { expect, test, vi } from 'vitest'
import { issueApplicationKey, issueKey } from '../../stack/keys.ts'
import { startLading } from '../harness/lading.ts'

const lading = await startLading()

const newestSecret = async (): Promise<string> =>
  (await lading.sql<{ id: string }[]>`select id from internal.signing_secrets order by id desc limit 1`)[0]?.id ?? ''

const retire = (id: string) => lading.sql`select internal.retire_signing_secret(${id}::uuid)`

test('the newest secret cannot be retired: nothing could be signed', async () => {
  await expect(retire(await newestSecret())).rejects.toMatchObject({
    code: 'PT409',
    message: 'The newest signing secret cannot be retired: rotate first',
  })
  expect((await lading.a.rest.get('/orders')).status).toBe(200)
})

test('old keys work until their secret is retired, new ones are signed with the new secret', async () => {
  const old = await newestSecret()
  await lading.sql`select internal.rotate_signing_secret()`
  const newApplicationKey = await issueApplicationKey(lading.sql, 'after')
  const newKey = await issueKey(lading.sql, 'business', 'after', lading.a.id)
  const renewed = lading.rest(newKey, newApplicationKey)
  await vi.waitFor(async () => expect((await renewed.get('/orders')).status).toBe(200), { timeout: 10_000 })
  const [signing] = await lading.sql`
    select signing_secret_id = ${old} as "isOld" from internal.api_keys where name = 'after'`
  expect(signing?.isOld).toBe(false)
  expect((await lading.a.rest.get('/orders')).status).toBe(200)

  await retire(old)
  const statuses = async () =>
    Promise.all(
      [lading.a.rest, lading.operator, lading.rest(newKey), renewed].map(
        async (rest) => (await rest.get('/orders')).status,
      ),
    )
  await vi.waitFor(async () => expect(await statuses()).toEqual([401, 401, 401, 200]), { timeout: 10_000 })

  const [listed] = await renewed
    .get<{ revoked_time: string | null }[]>('/api_keys?name=eq.Business%20A%20business')
    .then((answer) => answer.body)
  expect(listed?.revoked_time).not.toBeNull()
})
