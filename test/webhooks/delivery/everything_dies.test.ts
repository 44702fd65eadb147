import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Connection } from '../../../stack/connection.ts'
import { connect } from '../../../stack/database.ts'
import { passableFolder, removeFolder } from '../../../stack/temporary_folder.ts'
import { descendants, runStart, type StartedProcess, until } from '../../harness/npm_start.ts'

const received = new Map<string, number>()
const consumer = createServer(async (request, response) => {
  let body = ''
  for await (const chunk of request) body += chunk
  const id = (JSON.parse(body) as { data: { id: string } }).data.id
  received.set(id, (received.get(id) ?? 0) + 1)
  response.end()
})

let folder: string
let stack: StartedProcess
let lading: Connection

beforeAll(async () => {
  consumer.listen(0, '127.0.0.1')
  await once(consumer, 'listening')
  folder = await passableFolder()
  stack = runStart(join(folder, 'data'), { WEBHOOK_FIRE_SECONDS: '1' })
  lading = await stack.ready()
})

afterAll(async () => {
  stack.child.kill('SIGTERM')
  await stack.ended
  consumer.close()
  await removeFolder(folder)
})

const post = (path: string, body: unknown): Promise<Response> =>
  fetch(`${lading.rest_url}${path}`, {
    method: 'POST',
    headers: {
      apikey: lading.application_key,
      Authorization: `Bearer ${lading.demo?.business_key}`,
      'Content-Type': 'application/json',
      Prefer: 'return=representation',
    },
    body: JSON.stringify(body),
  })

const killOne = (what: RegExp): void => {
  const one = descendants(stack.child.pid ?? 0).find(({ command }) => what.test(command))
  if (one !== undefined) process.kill(one.pid, 'SIGKILL')
}

test('Postgres, PostgREST, sidecar and worker killed under load: no event of a change that was answered is lost', {
  timeout: 90_000,
}, async () => {
  const business_id = lading.demo?.business_id
  const { port } = consumer.address() as AddressInfo
  const [configuration] = (await (
    await post('/webhook_configurations', { business_id, hook_consumer_url: `http://127.0.0.1:${port}/` })
  ).json()) as { id: string }[]
  await post('/webhook_configuration_actions', {
    webhook_configuration_id: configuration?.id,
    action: 'shipment.created',
    capture_snapshot: false,
  })

  const created: string[] = []
  let isOver = false
  const load = async (writer: number): Promise<void> => {
    for (let n = 0; !isOver; n++) {
      const answer = await post('/shipments', { business_id, shipment_number: `LOAD-${writer}-${n}` }).catch(
        () => undefined,
      )
      if (answer?.status === 201) created.push(((await answer.json()) as { id: string }[])[0]?.id ?? '')
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }
  const writers = [1, 2, 3, 4].map(load)
  for (const victim of [/worker\/main\.ts/, /postgres -D /, /postgrest$/, /worker\/main\.ts/, /sidecar\/server\.ts/]) {
    await new Promise((resolve) => setTimeout(resolve, 1_500))
    killOne(victim)
  }
  await new Promise((resolve) => setTimeout(resolve, 3_000))
  isOver = true
  await Promise.all(writers)

  expect(created.length).toBeGreaterThan(50)
  const sql = connect(lading.database_url, 1)
  try {
    // what a killed worker had claimed is due when its lease ends: that time passes here
    await sql`update api.webhook_deliveries set next_attempt_time = now() where state = 'sending'`
    await sql`select internal.queue_due_deliveries()`
    const missing = () => created.filter((id) => !received.has(id))
    await until('every event is delivered', () => missing().length === 0, 30_000)

    const again = await sql`
      select event_id from api.webhook_deliveries where state = 'delivered' group by 1 having count(*) > 1`
    expect(again).toHaveLength(0)
    expect(await sql`select * from internal.verify_all_inventory()`).toHaveLength(0)
  } finally {
    await sql.end()
  }
})
