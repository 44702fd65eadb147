import { setTimeout as sleep } from 'node:timers/promises'
import { connect, type Sql } from '../stack/database.ts'
import { makeLog } from '../stack/log.ts'
import { startWorkerProgram } from '../stack/programs.ts'
import { readSettings } from '../stack/settings.ts'
import { type Batch, ordersToSend } from './datasets/orders_to_send.ts'
import type { Entry } from './rig/entry.ts'
import { type HttpRequest, perSecond } from './rig/load.ts'
import { startReceiver } from './rig/receiver.ts'
import { sideBySide } from './rig/side_by_side.ts'

const ROUNDS = 5
const ORDERS = 1_000
/** What a worker does at a time unless told otherwise. */
const CONCURRENCY = 50
const PAUSE_MILLISECONDS = 10

const untilPending = async (sql: Sql, { fulfillmentIds }: Batch): Promise<void> => {
  const last = fulfillmentIds.length
  for (;;) {
    const [row] = await sql<{ pending: number; left: number }[]>`
      select count(*) filter (where status = 'PENDING')::integer as pending, count(*)::integer as left
      from api.fulfillments where id = any (${fulfillmentIds}::uuid[])`
    if (row?.pending === last) return
    if (row === undefined || row.left < last) throw new Error('an order could not be sent')
    await sleep(PAUSE_MILLISECONDS)
  }
}

const entry: Entry = {
  goal: { atLeast: 0.4 },
  measure: async (rig) => {
    const receiver = await startReceiver()
    const { ownerUrl, facts } = await rig.lading(ordersToSend(ROUNDS + 1, ORDERS, `${receiver.url}/orders`))
    const sql = connect(ownerUrl)
    const worker = await startWorkerProgram(readSettings({ LOG_LEVEL: 'error' }), ownerUrl, makeLog('error', 'bench'))
    const batchOf = (round: number): Batch => {
      const batch = facts.batches[round]
      if (batch === undefined) throw new Error('there are too few orders')
      return batch
    }
    try {
      const figures = await sideBySide(ROUNDS, {
        ours: async (round) => {
          const batch = batchOf(round)
          await sql`update api.send_orders_steps set is_enabled = true where id = ${batch.stepId}`
          const started = performance.now()
          await sql`select internal.queue_sending(${batch.fulfillmentIds}::uuid[])`
          await untilPending(sql, batch)
          return perSecond({ done: ORDERS, milliseconds: performance.now() - started })
        },
        reference: async (round) => {
          const requests = batchOf(round).bodies.map(
            (body): HttpRequest => ({
              method: 'POST',
              path: '/orders',
              headers: { 'Content-Type': 'application/json' },
              body,
            }),
          )
          const lanes = Array.from({ length: CONCURRENCY }, (_, lane) =>
            requests.filter((_request, number) => number % CONCURRENCY === lane),
          )
          return perSecond(await rig.load({ kind: 'http', target: receiver.url, lanes }))
        },
      })
      return [{ unit: '/s', ...figures, conditions: { concurrency: CONCURRENCY, 'orders a round': ORDERS } }]
    } finally {
      await worker.stop()
      await sql.end({ timeout: 1 })
      await receiver.stop()
    }
  },
}

export default entry
