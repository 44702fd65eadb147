import type { TaskList } from 'graphile-worker'
import { applyCallback } from './tasks/apply_callback.ts'
import { cancelOrder } from './tasks/cancel_order.ts'
import { deleteOldDeliveries } from './tasks/delete_old_deliveries.ts'
import { deliverWebhooks } from './tasks/deliver_webhooks.ts'
import { fireWebhooks } from './tasks/fire_webhooks.ts'
import { freeJobs } from './tasks/free_jobs_of_dead_workers.ts'
import type { Parts } from './tasks/parts.ts'
import { sendOrder } from './tasks/send_order.ts'
import { sweepDeliveries } from './tasks/sweep_deliveries.ts'
import { sweepFulfillments } from './tasks/sweep_fulfillments.ts'
import { verifyLedger } from './tasks/verify_ledger.ts'

/** Task identifier = name of the file in tasks/. */
export const makeTasks = (parts: Parts): TaskList => ({
  apply_callback: applyCallback(parts),
  cancel_order: cancelOrder(parts),
  delete_old_deliveries: deleteOldDeliveries(parts),
  deliver_webhooks: deliverWebhooks(parts),
  fire_webhooks: fireWebhooks(parts),
  free_jobs_of_dead_workers: freeJobs(parts),
  send_order: sendOrder(parts),
  sweep_deliveries: sweepDeliveries(parts),
  sweep_fulfillments: sweepFulfillments(parts),
  verify_ledger: verifyLedger(parts.log),
})

/** Minute, hour, day, month, day of week (UTC), task. */
export const crontab = `
* * * * * free_jobs_of_dead_workers ?jobKey=free_jobs_of_dead_workers&max=1
* * * * * fire_webhooks ?jobKey=fire_webhooks&jobKeyMode=preserve_run_at
* * * * * sweep_deliveries ?jobKey=sweep_deliveries&max=1
* * * * * sweep_fulfillments ?jobKey=sweep_fulfillments&max=1
41 * * * * delete_old_deliveries ?jobKey=delete_old_deliveries&max=1
17 3 * * * verify_ledger ?jobKey=verify_ledger&max=3
`
