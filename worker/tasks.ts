import type { TaskList } from 'graphile-worker'
import type { Log } from '../stack/log.ts'
import { verifyLedger } from './tasks/verify_ledger.ts'

/** Task identifier = name of the file in tasks/. */
export const makeTasks = (log: Log): TaskList => ({
  verify_ledger: verifyLedger(log),
})

/** Minute, hour, day, month, day of week (UTC), task. */
export const crontab = `
17 3 * * * verify_ledger ?jobKey=verify_ledger&max=3
`
