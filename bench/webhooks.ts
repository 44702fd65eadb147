import { setTimeout as sleep } from 'node:timers/promises'
import { connect, type Sql } from '../stack/database.ts'
import { makeLog } from '../stack/log.ts'
import { startWorkerProgram } from '../stack/programs.ts'
import { readSettings } from '../stack/settings.ts'
import { type Batch, webhooksToDeliver } from './datasets/webhooks_to_deliver.ts'
import type { Entry } from './rig/entry.ts'
import { type HttpRequest, perSecond } from './rig/load.ts'
import { startReceiver } from './rig/receiver.ts'
import { sideBySide } from './rig/side_by_side.ts'

const ROUNDS = 5
const DELIVERIES = 2_000
/** Requests at once to one consumer. */
const CONCURRENCY = 16
const PAUSE_MILLISECONDS = 10

const untilDelivered = async (sql: Sql, { configurationId }: Batch): Promise<void> => {
  for (;;) {
    const [row] = await sql<{ delivered: number }[]>`
      select count(*)::integer as delivered from api.webhook_deliveries
      where webhook_configuration_id = ${configurationId} and state = 'delivered'`
    if (row?.delivered === DELIVERIES) return
    await sleep(PAUSE_MILLISECONDS)
  }
}

const entry: Entry = {
  goal: { atLeast: 0.4 },
  measure: async (rig) => {
    const receiver = await startReceiver()
    const { ownerUrl, facts } = await rig.lading(webhooksToDeliver(ROUNDS + 1, DELIVERIES, `${receiver.url}/webhooks`))
    const sql = connect(ownerUrl)
    const worker = await startWorkerProgram(readSettings({ LOG_LEVEL: 'error' }), ownerUrl, makeLog('error', 'bench'))
    const batchOf = (round: number): Batch => {
      const batch = facts.batches[round]
      if (batch === undefined) throw new Error('there are too few deliveries')
      return batch
    }
    try {
      const figures = await sideBySide(ROUNDS, {
        ours: async (round) => {
          const batch = batchOf(round)
          await sql`
            update api.webhook_deliveries set next_attempt_time = now()
            where webhook_configuration_id = ${batch.configurationId}`
          const started = performance.now()
          await sql`select internal.queue_deliveries(array[${batch.configurationId}]::uuid[])`
          await untilDelivered(sql, batch)
          return perSecond({ done: DELIVERIES, milliseconds: performance.now() - started })
        },
        reference: async (round) => {
          const requests = batchOf(round).bodies.map(
            (body): HttpRequest => ({
              method: 'POST',
              path: '/webhooks',
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
      return [{ unit: '/s', ...figures, conditions: { concurrency: CONCURRENCY, 'deliveries a round': DELIVERIES } }]
    } finally {
      await worker.stop()
      await sql.end({ timeout: 1 })
      await receiver.stop()
    }
  },
}

export default entry
