import { Writable } from 'node:stream'
import { pino } from 'pino'
import { afterAll, expect, test } from 'vitest'
import { withDatabase } from '../../stack/database.ts'
import { startWorker } from '../../worker/worker.ts'
import { startLading } from '../harness/lading.ts'
import { until } from '../harness/npm_start.ts'

const lading = await startLading()

interface Line {
  level: number
  msg: string
  rows?: unknown[]
}

const lines: Line[] = []
const log = pino(
  { level: 'info' },
  new Writable({
    write(chunk: Buffer, _encoding, done) {
      lines.push(JSON.parse(chunk.toString()) as Line)
      done()
    },
  }),
)

const worker = await startWorker({ ownerUrl: lading.ownerUrl, concurrency: 2, log })
afterAll(() => worker.stop())

const verify = async (): Promise<Line> => {
  lines.length = 0
  await withDatabase(lading.ownerUrl, (sql) => sql`select graphile_worker.add_job('verify_ledger')`)
  const outcome = () => lines.find((line) => line.msg.includes('ledger and quantities'))
  await until('the ledger is verified', () => outcome() !== undefined)
  return outcome() as Line
}

test('the nightly check is quiet while ledger and quantities agree', async () => {
  expect(await verify()).toMatchObject({ level: 30, msg: 'ledger and quantities agree' })
})

test('it logs an error with the rows when they disagree', async () => {
  const [item] = await lading.sql`
    insert into api.inventory_items (business_id, sku) values (${lading.a.id}, 'MUG') returning id`
  const [location] = await lading.sql`
    insert into api.locations (business_id, name) values (${lading.a.id}, 'East') returning id`
  await lading.a.rest.rpc('adjust_inventory', {
    business_id: lading.a.id,
    adjustments: [
      {
        sku: 'MUG',
        location_id: location?.id,
        inventory_status: 'available_to_sell',
        operation: 'ADJUST',
        quantity: 5,
      },
    ],
  })
  expect(await verify()).toMatchObject({ level: 30 })
  await lading.sql`update internal.inventory_levels set available_to_sell = 6 where business_id = ${lading.a.id}`
  expect(await verify()).toMatchObject({
    level: 50,
    msg: 'ledger and quantities disagree',
    rows: [{ inventory_item_id: item?.id, ledger_quantity: '5', current_quantity: '6' }],
  })
})

test('a job of a kind that nobody knows does not stop the worker', async () => {
  await lading.sql`select graphile_worker.add_job('no_such_task')`
  await lading.sql`update internal.inventory_levels set available_to_sell = 5 where business_id = ${lading.a.id}`
  expect(await verify()).toMatchObject({ level: 30 })
})
