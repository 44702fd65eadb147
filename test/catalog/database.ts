import type { Sql } from 'postgres'
import { afterAll, beforeAll } from 'vitest'
import { connect } from '../../stack/database.ts'
import { type ClonedDatabase, cloneDatabase } from '../harness/database.ts'

/** A migrated database for one test file, as its owner. */
export function useDatabase(): () => Sql {
  let database: ClonedDatabase
  let sql: Sql
  beforeAll(async () => {
    database = await cloneDatabase()
    sql = connect(database.ownerUrl)
  })
  afterAll(async () => {
    await sql.end()
    await database.drop()
  })
  return () => sql
}
