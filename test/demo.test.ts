import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, expect, test } from 'vitest'
import { type Connection, writeConnection } from '../stack/connection.ts'
import { passableFolder, privateFolder, removeFolder } from '../stack/temporary_folder.ts'
import { runStart } from './harness/npm_start.ts'
import { makeRestClient } from './harness/rest_client.ts'

const dataDir = await passableFolder()
const otherDir = await privateFolder()
const started = runStart(dataDir)
afterAll(async () => {
  started.child.kill('SIGTERM')
  await started.ended
  await Promise.all([dataDir, otherDir].map(removeFolder))
})
const connection = await started.ready()
const { demo } = connection
if (demo === undefined) throw new Error('npm start made no demo business')

const rest = makeRestClient(connection.rest_url, {
  apikey: connection.application_key,
  Authorization: `Bearer ${demo.business_key}`,
})

const runDemo = async (folder: string) => {
  const child = spawn(process.execPath, ['demo/main.ts'], {
    cwd: join(import.meta.dirname, '..'),
    env: { PATH: process.env.PATH, DATA_DIR: folder },
  })
  const [output, problem, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')])
  return { output, problem, code: code as number }
}

const runDemoWith = async (changed: Partial<Connection>) => {
  await writeConnection(otherDir, { ...connection, ...changed })
  return runDemo(otherDir)
}

const expectedStock = [
  ['Harbour MUG', 108, 108, 0, 0, 0],
  ['Harbour TEA', 22, 22, 0, 0, 0],
  ['Harbour TEAPOT', 30, 28, 0, 2, 0],
  ['Hill TEA', 20, 20, 0, 0, 0],
  ['Shop MUG', 82, 82, 1, 0, 0],
  ['Shop TEA', 42, 42, 0, 0, 0],
  ['Shop TEAPOT', 18, 18, 0, 0, 0],
]

const expectedOrders = {
  'SO-1': ['closed', ['OPEN']],
  'SO-2': ['closed', ['OPEN', 'OPEN']],
  'SO-3': ['closed', ['OPEN', 'OPEN']],
  'SO-4': ['canceled', ['CANCELED']],
  'SO-5': ['hold', []],
  'SO-6': ['closed', ['OPEN']],
}

type Named<Fields> = Fields & Record<string, unknown>

const stockOf = async (run: string) => {
  const { body } = await rest.get<Named<{ location: string; sku: string }>[]>(
    `/inventory_quantities?sku=like.*-${run}&order=location,sku`,
  )
  return body.map(({ location, sku, on_hand, available_to_sell, committed, unavailable, incoming }) => [
    `${location} ${sku}`.replaceAll(`-${run}`, ''),
    ...[on_hand, available_to_sell, committed, unavailable, incoming],
  ])
}

const ordersOf = async (run: string) => {
  const { body } = await rest.get<{ channel_order_id: string; status: string; fulfillments: { status: string }[] }[]>(
    `/orders?select=channel_order_id,status,fulfillments(status)&channel_order_id=like.*-${run}&order=channel_order_id`,
  )
  return Object.fromEntries(
    body.map(({ channel_order_id, status, fulfillments }) => [
      channel_order_id.replace(`-${run}`, ''),
      [status, fulfillments.map((each) => each.status)],
    ]),
  )
}

test('two days at once: each prints its timeline, exits 0 within 30 s and leaves the same stock and orders', async () => {
  const began = performance.now()
  const days = await Promise.all([runDemo(dataDir), runDemo(dataDir)])
  expect(performance.now() - began).toBeLessThan(30_000)
  for (const { output, problem, code } of days) {
    expect({ problem, code }).toEqual({ problem: '', code: 0 })
    expect(output).toContain('SO-6     to be fulfilled at Hill: 3PL Failure ERROR (HTTP status: 500')
    expect(output).toMatch(/rpc\/verify_inventory → \[\] \(ledger and quantities agree\)\n$/)
    const run = /end in -([0-9a-f]{8})/.exec(output)?.[1] ?? ''
    expect(await stockOf(run)).toEqual(expectedStock)
    expect(await ordersOf(run)).toEqual(expectedOrders)
  }
  const { body: steps } = await rest.get<{ is_enabled: boolean }[]>('/send_orders_steps?select=is_enabled')
  expect(steps).toEqual([{ is_enabled: false }, { is_enabled: false }])
  expect((await rest.rpc('verify_inventory', { business_id: demo.business_id })).body).toEqual([])
})

test('each line that README.md shows of a day is printed', async () => {
  const readme = await readFile(join(import.meta.dirname, '../README.md'), 'utf8')
  const shown = /^## A day in two minutes\n.*?^```text\n(.*?)^```/ms.exec(readme)?.[1]?.trimEnd().split('\n') ?? []
  expect(shown.length).toBeGreaterThan(9)
  const printed = (await runDemo(dataDir)).output.split('\n')
  expect(shown.filter((line) => !printed.includes(line))).toEqual([])
})

test('exits 1 and says so when Lading was not started', async () => {
  expect(await runDemo('/nowhere/lading')).toEqual({
    code: 1,
    output: '',
    problem: 'No Lading is running here: npm start writes /nowhere/lading/connection.json, which is missing.\n',
  })
})

test('exits 1 and says so when Lading does not answer', async () => {
  expect(await runDemoWith({ rest_url: 'http://127.0.0.1:1/rest/v1' })).toEqual({
    code: 1,
    output: '',
    problem: 'Lading does not answer at http://127.0.0.1:1. Is npm start running?\n',
  })
})

test('exits 1 and says so when there is no demo business', async () => {
  const { demo: _demo, ...withoutDemo } = connection
  await writeConnection(otherDir, withoutDemo)
  expect(await runDemo(otherDir)).toMatchObject({ code: 1, problem: expect.stringContaining('DEMO=on') })
})

test('exits 1 and shows an answer that was not expected', async () => {
  expect(await runDemoWith({ demo: { ...demo, business_key: demo.warehouse_key } })).toMatchObject({
    code: 1,
    problem: expect.stringMatching(/^POST locations answered 403 instead of 201: /),
  })
})
