import { authenticatorUrl, ensureAuthenticator, withDatabase } from '../../stack/database.ts'
import type { Log } from '../../stack/log.ts'
import { postgrestSettings } from '../../stack/postgrest_settings.ts'
import { startBenchPostgrest } from './bench_postgrest.ts'
import type { Undo } from './undo.ts'

/**
 * The reference: the same tables with the same rows, indexes, constraints and foreign keys, but no row-level security and no
 * triggers, and the same PostgREST program that asks for no key.
 */
export interface Plain {
  ownerUrl: string
  upstream: string
}

/** Foreign keys stay: they are no user triggers. */
const strip = (ownerUrl: string): Promise<unknown> =>
  withDatabase(ownerUrl, async (sql) => {
    const tables = await sql<{ name: string }[]>`
      select oid::regclass::text as name from pg_class
      where relkind = 'r' and relnamespace in ('api'::regnamespace, 'internal'::regnamespace)`
    for (const { name } of tables) {
      await sql.unsafe(
        `alter table ${name} disable row level security, no force row level security, disable trigger user`,
      )
    }
    await sql`grant select on all tables in schema api to anon`
  })

export async function startPlain(ownerUrl: string, log: Log, undo: Undo): Promise<Plain> {
  await ensureAuthenticator(ownerUrl)
  await strip(ownerUrl)
  const {
    PGRST_DB_PRE_CONFIG: _config,
    PGRST_DB_PRE_REQUEST: _request,
    ...settings
  } = postgrestSettings({
    authenticatorUrl: authenticatorUrl(ownerUrl),
    publicUrl: 'http://localhost',
    logLevel: 'error',
  })
  return { ownerUrl, upstream: await startBenchPostgrest(settings, 'socket', log, undo) }
}
