import { setTimeout } from 'node:timers/promises'
import { Logger, runMigrations } from 'graphile-worker'
import { withDatabase } from '../stack/database.ts'
import { silentLog } from '../stack/log.ts'
import { applyMigrations } from '../stack/migrations.ts'
import { fixturesText } from './fixtures_text.ts'

/** As a deploy does it: the committed migrations, one after the other. */
export async function buildFromMigrations(ownerUrl: string): Promise<void> {
  await applyMigrations(ownerUrl, silentLog)
  await untilAlone(ownerUrl)
}

/** As the living source reads: db/fixtures/all.sql on an empty database. */
export async function buildFromFixtures(ownerUrl: string): Promise<void> {
  await runMigrations({ connectionString: ownerUrl, logger: new Logger(() => () => undefined) })
  const text = await fixturesText(ownerUrl)
  await withDatabase(ownerUrl, (sql) => sql.unsafe(text))
}

/** graphile-migrate keeps its connections for a moment when it is done, and ends the process should they break. */
const untilAlone = (ownerUrl: string): Promise<void> =>
  withDatabase(ownerUrl, async (sql) => {
    for (;;) {
      const others = await sql`
        select from pg_stat_activity where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()`
      if (others.length === 0) return
      await setTimeout(50)
    }
  })
