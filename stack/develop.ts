import { setTimeout as sleep } from 'node:timers/promises'
import { runCommand, UsageError } from './command.ts'
import { type Connection, writeConnection } from './connection.ts'
import { setDeployment, withDatabase } from './database.ts'
import { type FoundDatabase, findDatabase } from './find_database.ts'
import { keepOrIssueKeys } from './lading_keys.ts'
import { commitCurrent, type MigrationLog, resetDatabase, watchCurrent } from './migrations.ts'

const usage = `For those who change SQL; on the database of npm start, or on DATABASE_URL.

  npm run db:watch               applies db/current.sql and again on each change of it or of db/fixtures
  npm run db:commit -- MESSAGE   moves db/current.sql to db/committed
  npm run db:reset -- --erase    empties the database and builds it anew from db/committed. All data is lost.`

const log: MigrationLog = {
  error: console.error,
  warn: console.warn,
  debug: console.log,
  trace: () => undefined,
}

const RELOAD_MILLISECONDS = 15_000

/** PostgREST must read the new signing secret before it accepts new keys. */
const reloadUntilAccepted = async (ownerUrl: string, connection: Connection): Promise<void> => {
  const deadline = Date.now() + RELOAD_MILLISECONDS
  while (Date.now() < deadline) {
    await withDatabase(
      ownerUrl,
      (sql) => sql`select pg_notify('pgrst', 'reload config'), pg_notify('pgrst', 'reload schema')`,
    )
    await sleep(500)
    const answer = await fetch(`${connection.rest_url}/businesses?limit=0`, {
      headers: { apikey: connection.application_key, Authorization: `Bearer ${connection.operator_key}` },
    }).catch(() => undefined)
    if (answer === undefined || answer.ok) return
  }
  console.error('PostgREST does not accept the new keys yet: restart npm start.')
}

/** The keys of npm start went with the old data. */
const equip = async ({ ownerUrl, dataDir, connection }: FoundDatabase): Promise<void> => {
  if (connection === undefined) return
  await setDeployment(ownerUrl, { publicUrl: connection.base_url, allowPrivateAddresses: true })
  const { isNew: _, ...keys } = await keepOrIssueKeys(ownerUrl, connection, connection.demo !== undefined)
  const { base_url, rest_url, database_url } = connection
  const renewed = { base_url, rest_url, database_url, ...keys }
  const file = await writeConnection(dataDir, renewed)
  console.log(`New keys are in ${file}.`)
  await reloadUntilAccepted(ownerUrl, renewed)
}

await runCommand(async () => {
  const [command, ...rest] = process.argv.slice(2)
  const found = await findDatabase()
  if (command === 'watch') await watchCurrent(found.ownerUrl, log)
  else if (command === 'commit') await commitCurrent(found.ownerUrl, log, rest.join(' ') || undefined)
  else if (command === 'reset' && rest[0] === '--erase') {
    await resetDatabase(found.ownerUrl, log)
    await equip(found)
  } else throw new UsageError(usage)
})
