import { runCommand, UsageError } from './command.ts'
import { writeConnection } from './connection.ts'
import { setPublicUrl, withDatabase } from './database.ts'
import { type FoundDatabase, findDatabase } from './find_database.ts'
import { keepOrIssueKeys } from './lading_keys.ts'
import { makeLog } from './log.ts'
import { commitCurrent, databaseOf, inDatabase, resetDatabase, watchCurrent } from './migrations.ts'

const usage = `For those who change SQL; on the database of npm start, or on DATABASE_URL.

  npm run db:watch               applies db/current.sql and again on each change of it or of db/fixtures
  npm run db:commit -- MESSAGE   moves db/current.sql to db/committed
  npm run db:reset -- --erase    drops the database and builds it anew from db/committed. All data is lost.`

const log = makeLog('debug', 'migrate')

/** A new database has a new signing secret: PostgREST must read it, and npm start's keys are issued anew. */
const equip = async ({ ownerUrl, dataDir, connection }: FoundDatabase): Promise<void> => {
  await withDatabase(ownerUrl, (sql) => sql`notify pgrst, 'reload config'`)
  if (connection === undefined) return
  await setPublicUrl(ownerUrl, connection.base_url)
  const { isNew: _, ...keys } = await keepOrIssueKeys(ownerUrl, connection, connection.demo !== undefined)
  const { base_url, rest_url, database_url } = connection
  const file = await writeConnection(dataDir, { base_url, rest_url, database_url, ...keys })
  console.log(`New keys are in ${file}.`)
}

const reset = async (found: FoundDatabase): Promise<void> => {
  const name = databaseOf(found.ownerUrl)
  // Programs of a running npm start are connected: they come back by themselves.
  await withDatabase(
    inDatabase(found.ownerUrl, 'postgres'),
    (sql) => sql`drop database if exists ${sql(name)} with (force)`,
  )
  await resetDatabase(found.ownerUrl, log)
  await equip(found)
}

await runCommand(async () => {
  const [command, ...rest] = process.argv.slice(2)
  const found = await findDatabase()
  if (command === 'watch') await watchCurrent(found.ownerUrl, log)
  else if (command === 'commit') await commitCurrent(found.ownerUrl, log, rest.join(' ') || undefined)
  else if (command === 'reset' && rest[0] === '--erase') await reset(found)
  else throw new UsageError(usage)
})
