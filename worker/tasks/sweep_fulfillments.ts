import type { Task } from 'graphile-worker'
import type { Parts } from './parts.ts'

/** Finds what was missed: locations mapped or steps enabled later, and what a worker that died had claimed. */
export const sweepFulfillments =
  ({ sql, log }: Parts): Task =>
  async () => {
    const [row] = await sql<{ queued: string }[]>`select internal.queue_missed_fulfillments() as queued`
    if (row !== undefined && row.queued !== '0') log.info({ queued: Number(row.queued) }, 'fulfillments queued again')
  }
