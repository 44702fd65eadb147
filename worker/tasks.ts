import type { TaskList } from 'graphile-worker'
import { applyCallback } from './tasks/apply_callback.ts'
import { cancelOrder } from './tasks/cancel_order.ts'
import { freeJobs } from './tasks/free_jobs_of_dead_workers.ts'
import type { Parts } from './tasks/parts.ts'
import { sendOrder } from './tasks/send_order.ts'
import { sweepFulfillments } from './tasks/sweep_fulfillments.ts'
import { verifyLedger } from './tasks/verify_ledger.ts'

/** Task identifier = name of the file in tasks/. */
export const makeTasks = (parts: Parts): TaskList => ({
  apply_callback: applyCallback(parts),
  cancel_order: cancelOrder(parts),
  free_jobs_of_dead_workers: freeJobs(parts),
  send_order: sendOrder(parts),
  sweep_fulfillments: sweepFulfillments(parts),
  verify_ledger: verifyLedger(parts.log),
})

/** Minute, hour, day, month, day of week (UTC), task. */
export const crontab = `
* * * * * free_jobs_of_dead_workers ?jobKey=free_jobs_of_dead_workers&max=1
* * * * * sweep_fulfillments ?jobKey=sweep_fulfillments&max=1
17 3 * * * verify_ledger ?jobKey=verify_ledger&max=3
`
