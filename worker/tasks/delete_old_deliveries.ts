import type { Task } from 'graphile-worker'
import type { Parts } from './parts.ts'

/** Deletes deliveries that were kept long enough, a batch at a time. */
export const deleteOldDeliveries =
  ({ sql, log, retentionDays }: Parts): Task =>
  async () => {
    let all = 0
    for (;;) {
      const [row] = await sql<{ deleted: number }[]>`select internal.delete_old_deliveries(${retentionDays}) as deleted`
      const deleted = row?.deleted ?? 0
      if (deleted === 0) break
      all += deleted
    }
    if (all > 0) log.info({ deleted: all }, 'old webhook deliveries were deleted')
  }
