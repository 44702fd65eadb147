import { Logger, runMigrations } from 'graphile-worker'
import { withDatabase } from '../stack/database.ts'
import { silentLog } from '../stack/log.ts'
import { applyMigrations } from '../stack/migrations.ts'
import { fixturesText } from './fixtures_text.ts'

/** As a deploy does it: the committed migrations, one after the other. */
export const buildFromMigrations = (ownerUrl: string): Promise<void> => applyMigrations(ownerUrl, silentLog)

/** As the living source reads: db/fixtures/all.sql on an empty database. */
export async function buildFromFixtures(ownerUrl: string): Promise<void> {
  await runMigrations({ connectionString: ownerUrl, logger: new Logger(() => () => undefined) })
  const text = await fixturesText(ownerUrl)
  await withDatabase(ownerUrl, (sql) => sql.unsafe(text))
}
