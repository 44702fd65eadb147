import type { Task } from 'graphile-worker'
import type { Parts } from './parts.ts'

/** Finds what is due and was not delivered: what a worker that died had claimed or was woken for. */
export const sweepDeliveries =
  ({ sql }: Parts): Task =>
  async () => {
    await sql`select internal.queue_due_deliveries()`
  }
