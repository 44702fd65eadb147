import { statSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import type { Connection } from '../../stack/connection.ts'
import { withDatabase } from '../../stack/database.ts'
import { passableFolder, privateFolder, removeFolder } from '../../stack/temporary_folder.ts'
import { descendants, isRunning, runStart, type StartedProcess, until } from '../harness/npm_start.ts'
import { makeRestClient } from '../harness/rest_client.ts'

const folders: string[] = []
const begun: StartedProcess[] = []

const newDataDir = async (): Promise<string> => {
  const folder = await passableFolder()
  folders.push(folder)
  return join(folder, 'data')
}

const start = (dataDir: string, settings: NodeJS.ProcessEnv = {}): StartedProcess => {
  const process = runStart(dataDir, settings)
  begun.push(process)
  return process
}

const restOf = (connection: Connection, key = connection.operator_key) =>
  makeRestClient(connection.rest_url, { apikey: connection.application_key, Authorization: `Bearer ${key}` })

const serves = async (connection: Connection): Promise<boolean> =>
  restOf(connection)
    .get('/businesses')
    .then(
      (answer) => answer.status === 200,
      () => false,
    )

const pidOf = (started: StartedProcess, pattern: RegExp): number | undefined =>
  descendants(started.child.pid ?? 0).find((each) => pattern.test(each.command) && !each.command.includes('guard'))?.pid

afterAll(async () => {
  for (const { child, ended } of begun) {
    if (child.exitCode !== null || child.signalCode !== null) continue
    child.kill('SIGTERM')
    await ended
  }
  await Promise.all(folders.map(removeFolder))
})

describe('the first start, and the next', async () => {
  const dataDir = await newDataDir()
  let first: StartedProcess
  let connection: Connection

  test('is ready within 15 s and prints keys and calls', async () => {
    const before = Date.now()
    first = start(dataDir)
    connection = await first.ready()
    expect(Date.now() - before).toBeLessThan(15_000)
    for (const text of [connection.application_key, connection.operator_key, connection.rest_url, 'curl']) {
      expect(first.output()).toContain(text)
    }
    expect(first.output()).toContain(connection.demo?.business_key)
  })

  test('connection.json can be read by nobody else', () => {
    expect(statSync(join(dataDir, 'connection.json')).mode & 0o777).toBe(0o600)
  })

  test('the keys work, and the demo business has a shipment under way', async () => {
    const demo = connection.demo
    const answer = await restOf(connection, demo?.business_key).get('/shipments?select=shipment_number,status')
    expect(answer).toMatchObject({ status: 200, body: [{ shipment_number: 'DEMO-1000', status: 'shipped' }] })
  })

  test('the database answers its owner, who is no superuser', async () => {
    const [owner] = await withDatabase(
      connection.database_url,
      (sql) => sql`select rolsuper, rolbypassrls from pg_roles where rolname = current_user`,
    )
    expect(owner).toEqual({ rolsuper: false, rolbypassrls: false })
  })

  test('a second start on the same data is refused and says why', async () => {
    const second = start(dataDir)
    expect(await second.ended).toBe(1)
    expect(second.output()).toContain('already running')
    expect(await serves(connection)).toBe(true)
  })

  test('Ctrl-C ends it within 5 s and leaves no process', async () => {
    const children = descendants(first.child.pid ?? 0)
    expect(children.length).toBeGreaterThanOrEqual(4)
    const before = Date.now()
    first.child.kill('SIGINT')
    expect(await first.ended).toBe(0)
    expect(Date.now() - before).toBeLessThan(5_000)
    await until('all children have ended', () => children.every((each) => !isRunning(each.pid)), 1_000)
  })

  test('the next start takes under 5 s, keeps keys and data, and does not show the secret keys again', async () => {
    const before = Date.now()
    const next = start(dataDir)
    const again = await next.ready()
    expect(Date.now() - before).toBeLessThan(5_000)
    expect(again).toMatchObject({
      application_key: connection.application_key,
      operator_key: connection.operator_key,
      database_url: connection.database_url,
      demo: connection.demo ?? {},
    })
    expect(await serves(again)).toBe(true)
    expect(next.output()).not.toContain(connection.operator_key)
    next.child.kill('SIGTERM')
    expect(await next.ended).toBe(0)
  })

  test('without connection.json the data is kept and new keys are issued', async () => {
    await rm(join(dataDir, 'connection.json'))
    const next = start(dataDir)
    const again = await next.ready()
    expect(again.operator_key).not.toBe(connection.operator_key)
    expect(again.demo?.business_id).toBe(connection.demo?.business_id)
    expect(await serves(again)).toBe(true)
    next.child.kill('SIGTERM')
    expect(await next.ended).toBe(0)
  })
})

describe('side by side, killed and restarted', async () => {
  const dataDir = await newDataDir()
  let one: StartedProcess
  let connection: Connection

  test('two copies with data folders of their own run side by side', async () => {
    const other = start(await newDataDir(), { DEMO: 'off' })
    one = start(dataDir, { DEMO: 'off' })
    const [first, second] = await Promise.all([one.ready(), other.ready()])
    connection = first
    expect(first.demo).toBeUndefined()
    expect([await serves(first), await serves(second)]).toEqual([true, true])
    expect((await restOf(first, second.operator_key).get('/businesses')).status).toBe(401)
    other.child.kill('SIGTERM')
    expect(await other.ended).toBe(0)
  })

  test.each([
    ['worker', /worker\/main\.ts/],
    ['sidecar', /sidecar\/server\.ts/],
    ['PostgREST', /postgrest$/],
    ['Postgres', /postgres -D /],
  ])('%s is started again when it is killed', async (_name, pattern) => {
    const before = pidOf(one, pattern)
    expect(before).toBeDefined()
    process.kill(before ?? 0, 'SIGKILL')
    await until('it has a new process', () => {
      const now = pidOf(one, pattern)
      return now !== undefined && now !== before
    })
    await until('requests are served', () => serves(connection), 20_000)
  })

  test('when the start itself is killed with -9, what it began ends, and the next start works', async () => {
    const children = descendants(one.child.pid ?? 0)
    one.child.kill('SIGKILL')
    await one.ended
    await until('all children have ended', () => children.every((each) => !isRunning(each.pid)), 8_000)
    const next = start(dataDir, { DEMO: 'off' })
    connection = await next.ready()
    expect(await serves(connection)).toBe(true)
    one = next
  })

  test('when everything is killed with -9 at once, the next start works', async () => {
    for (const each of [one.child.pid ?? 0, ...descendants(one.child.pid ?? 0).map((child) => child.pid)]) {
      try {
        process.kill(each, 'SIGKILL')
      } catch (error) {
        expect(error).toMatchObject({ code: 'ESRCH' })
      }
    }
    await one.ended
    const next = start(dataDir, { DEMO: 'off' })
    expect(await serves(await next.ready())).toBe(true)
    next.child.kill('SIGTERM')
    expect(await next.ended).toBe(0)
  })

  test('lock files whose process number now belongs to another program do not keep it from starting', async () => {
    await writeFile(join(dataDir, 'lading.pid'), `${process.pid}\n`)
    const lines = [process.pid, join(dataDir, 'postgres'), 0, 5432, '', '127.0.0.1', '', 'ready', '']
    await writeFile(join(dataDir, 'postgres', 'postmaster.pid'), lines.join('\n'))
    const next = start(dataDir, { DEMO: 'off' })
    expect(await serves(await next.ready())).toBe(true)
    next.child.kill('SIGTERM')
    expect(await next.ended).toBe(0)
  })
})

describe('what a person can mend is said in one message', () => {
  test('a wrong setting', async () => {
    const refused = start(await newDataDir(), { LOG_LEVEL: 'loud' })
    expect(await refused.ended).toBe(1)
    expect(refused.output()).toMatch(/^Settings refused:\n {2}LOG_LEVEL: must be one of .*\n$/)
  })

  test('a port in use', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    await until('it listens', () => server.listening)
    const address = server.address()
    const port = typeof address === 'object' ? address?.port : undefined
    const refused = start(await newDataDir(), { PORT: String(port) })
    expect(await refused.ended).toBe(1)
    expect(refused.output()).toMatch(new RegExp(`^PORT: ${port} is in use`))
    server.close()
  })

  test('a database that does not answer', async () => {
    const refused = start(await newDataDir(), { DATABASE_URL: 'postgres://nobody:hunter2@127.0.0.1:1/none' })
    expect(await refused.ended).toBe(1)
    expect(refused.output()).toMatch(/^DATABASE_URL: the database cannot be reached/)
    expect(refused.output()).not.toContain('hunter2')
  })

  test.runIf(userInfo().uid === 0)('as root: a data folder that the user postgres cannot reach', async () => {
    const folder = await privateFolder()
    folders.push(folder)
    const refused = start(join(folder, 'data'))
    expect(await refused.ended).toBe(1)
    expect(refused.output()).toContain(`the user "postgres", who may not enter ${folder}, where the data folder is`)
  })

  test('a PostgREST that is not there', async () => {
    const refused = start(await newDataDir(), { POSTGREST_BIN: '/nowhere/postgrest' })
    expect(await refused.ended).toBe(1)
    expect(refused.output()).toContain('POSTGREST_BIN: /nowhere/postgrest is not a program')
  })
})
