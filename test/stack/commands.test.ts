import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { withDatabase } from '../../stack/database.ts'
import { inDatabase } from '../../stack/migrations.ts'
import { startLading } from '../harness/lading.ts'

const lading = await startLading()

const run = async (program: string, ...parameters: string[]) => {
  const child = spawn(process.execPath, [join('stack', program), ...parameters], {
    cwd: join(import.meta.dirname, '../..'),
    env: { PATH: process.env.PATH, DATABASE_URL: lading.ownerUrl, DATA_DIR: '/nowhere/lading' },
  })
  const [output, problem, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')])
  return { output, problem, code: code as number }
}

test('key operator prints an operator key and nothing else', async () => {
  const { output, code } = await run('key.ts', 'operator', 'Ada')
  expect(code).toBe(0)
  expect(output).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+\n$/)
  const answer = await lading.rest(output.trim()).get('/businesses?select=id')
  expect(answer.body).toHaveLength(2)
})

test('key business prints a key of that business', async () => {
  const { output } = await run('key.ts', 'business', 'Shop', lading.b.id)
  expect((await lading.rest(output.trim()).get('/businesses?select=id')).body).toEqual([{ id: lading.b.id }])
})

test('key application prints an application key', async () => {
  const { output } = await run('key.ts', 'application', 'Dashboard')
  expect((await lading.rest(lading.a.key, output.trim()).get('/businesses')).status).toBe(200)
})

test.each([
  [[], 'Issues a key'],
  [['operator'], 'Issues a key'],
  [['king', 'Arthur'], 'Issues a key'],
  [['business', 'Shop'], 'Issues a key'],
  [['operator', 'Ada', '018f0000-0000-7000-8000-000000000000'], 'Issues a key'],
  [['business', 'Shop', '17'], 'BUSINESS_ID: "17" is not a uuid'],
  [['business', 'Shop', '018f0000-0000-7000-8000-000000000000'], 'BUSINESS_ID: there is no business 018f'],
])('key %j is refused and issues nothing', async (parameters, message) => {
  const before = await lading.sql`select count(*) from internal.api_keys`
  const { output, problem, code } = await run('key.ts', ...parameters)
  expect([output, code]).toEqual(['', 2])
  expect(problem).toContain(message)
  expect(await lading.sql`select count(*) from internal.api_keys`).toEqual(before)
})

test('migrate leaves an up-to-date database alone', async () => {
  expect(await run('migrate.ts')).toMatchObject({ code: 0, problem: '' })
})

test('migrate builds an empty database as its owner, who is no superuser', async () => {
  const empty = inDatabase(lading.ownerUrl, 'migrated_from_empty')
  await withDatabase(lading.ownerUrl, (sql) => sql`create database migrated_from_empty`)
  const child = spawn(process.execPath, ['stack/migrate.ts'], {
    cwd: join(import.meta.dirname, '../..'),
    env: { PATH: process.env.PATH, DATABASE_URL: empty },
    stdio: 'ignore',
  })
  expect((await once(child, 'exit'))[0]).toBe(0)
  const schemas = await withDatabase(
    empty,
    (sql) => sql`select nspname from pg_namespace where nspname in ('graphile_worker', 'graphile_migrate') order by 1`,
  )
  expect(schemas.map((row) => String(row.nspname))).toEqual(['graphile_migrate', 'graphile_worker'])
  await withDatabase(lading.ownerUrl, (sql) => sql`drop database migrated_from_empty with (force)`)
})
