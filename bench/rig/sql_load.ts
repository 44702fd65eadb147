import { connect, type Sql } from '../../stack/database.ts'
import type { LoadResult, SqlLoad, Transaction } from './load.ts'
import { runLanes } from './run_lanes.ts'

const connections = new Map<string, Sql>()

const connectionFor = (url: string, lane: number): Sql => {
  const key = `${lane} ${url}`
  const sql = connections.get(key) ?? connect(url)
  connections.set(key, sql)
  return sql
}

const perform = async (sql: Sql, transaction: Transaction): Promise<void> => {
  const [first, ...others] = transaction
  if (first === undefined) throw new Error('a transaction has no statement')
  if (others.length === 0) {
    await sql.unsafe(first.text, first.parameters, { prepare: true })
    return
  }
  await sql.begin(async (inTransaction) => {
    for (const statement of transaction) {
      await inTransaction.unsafe(statement.text, statement.parameters, { prepare: true })
    }
  })
}

export async function runSql(load: SqlLoad): Promise<LoadResult> {
  await Promise.all(load.lanes.map((_, lane) => connectionFor(load.url, lane)`select 1`))
  return await runLanes(load.lanes, load.milliseconds, (transaction, lane) =>
    perform(connectionFor(load.url, lane), transaction),
  )
}
