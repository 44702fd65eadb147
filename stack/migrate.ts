import { runCommand } from './command.ts'
import { findDatabase } from './find_database.ts'
import { makeLog } from './log.ts'
import { applyMigrations, databaseOf } from './migrations.ts'

await runCommand(async () => {
  const { ownerUrl } = await findDatabase()
  await applyMigrations(ownerUrl, makeLog('warn', 'migrate'))
  console.log(`Database ${databaseOf(ownerUrl)} is up to date.`)
})
