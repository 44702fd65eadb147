import type { AddJobFunction, Task } from 'graphile-worker'
import { describeError } from '../../stack/database_refusal.ts'
import type { Parts } from './parts.ts'
import { aboutTransaction } from './payload.ts'

const MOST_AT_ONCE = 500
const MILLISECONDS = 1_000

/**
 * One waiting job, by its key, fires for all workers together; each run queues the next one. A line of the crontab sees to it
 * that there is one.
 */
export const scheduleFiring = (addJob: AddJobFunction, runAt: Date) =>
  addJob('fire_webhooks', {}, { jobKey: 'fire_webhooks', runAt })

/** Turns events that are ready into deliveries: those of one transaction, or, every so many seconds, all there are. */
export const fireWebhooks = ({ sql, fireSeconds, deliverer, log }: Parts): Task => {
  const fire = async (transaction: string | null): Promise<void> => {
    for (;;) {
      const [row] = await sql<{ fired: number; configurations: string[] | null }[]>`
        select * from internal.fire_events(${transaction}::bigint, ${MOST_AT_ONCE})`
      for (const id of row?.configurations ?? []) deliverer.wake(id)
      if (row === undefined || row.fired < MOST_AT_ONCE) return
    }
  }
  return async (payload, { addJob }) => {
    const { transaction_id: transaction } = aboutTransaction.parse(payload)
    if (transaction !== undefined) {
      await fire(transaction)
      return
    }
    await scheduleFiring(addJob, new Date(Date.now() + fireSeconds * MILLISECONDS))
    // The next run has taken this one's key, so that it would not be tried again.
    await fire(null).catch((error: unknown) =>
      log.error({ error: describeError(error) }, 'webhook events were not fired, the next run tries again'),
    )
  }
}
