import type { JobHelpers } from 'graphile-worker'
import type { Log } from '../../stack/log.ts'

const LOGGED_ROWS = 100

/** The alarm for what no rule allows: quantities that are not the sum of their ledger. */
export const verifyLedger =
  (log: Log) =>
  async (_payload: unknown, helpers: JobHelpers): Promise<void> => {
    const { rows } = await helpers.query('select * from internal.verify_all_inventory()')
    if (rows.length === 0) log.info('ledger and quantities agree')
    else log.error({ count: rows.length, rows: rows.slice(0, LOGGED_ROWS) }, 'ledger and quantities disagree')
  }
