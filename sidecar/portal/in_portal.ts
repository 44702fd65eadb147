import type { TransactionSql } from 'postgres'
import type { Sql } from '../../stack/database.ts'

const STATEMENT_MILLISECONDS = 15_000

/**
 * Runs work in one transaction for the business of a session, as role `business`, so that row-level security keeps every
 * other business out of reach. Undefined when the session is not valid (any more).
 */
export async function inPortal<Result>(
  sql: Sql,
  session: string,
  access: 'read only' | 'read write',
  work: (sql: TransactionSql, businessId: string) => Promise<Result>,
): Promise<Result | undefined> {
  const result = await sql.begin(access, async (transaction) => {
    const [entered] = await transaction<{ business_id: string | null }[]>`
      select internal.enter_portal(${session}) as business_id,
        set_config('statement_timeout', ${String(STATEMENT_MILLISECONDS)}, true)`
    if (entered === undefined || entered.business_id === null) return undefined
    await transaction`set local role business`
    return { value: await work(transaction, entered.business_id) }
  })
  return result?.value
}
