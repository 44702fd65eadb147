import { join } from 'node:path'
import { authenticatorUrl, ensureAuthenticator, withDatabase } from '../../stack/database.ts'
import { postgrestBinary } from '../../stack/embedded/postgrest_binary.ts'
import type { Log } from '../../stack/log.ts'
import { hasSchemaCache } from '../../stack/postgrest_ready.ts'
import { postgrestSettings } from '../../stack/postgrest_settings.ts'
import { supervise } from '../../stack/supervise.ts'
import { privateFolder, removeFolder } from '../../stack/temporary_folder.ts'
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
  const socketFolder = await privateFolder()
  undo.add(() => removeFolder(socketFolder))
  const socket = join(socketFolder, 'postgrest')
  const upstream = `unix:${socket}`
  const {
    PGRST_DB_PRE_CONFIG: _config,
    PGRST_DB_PRE_REQUEST: _request,
    ...settings
  } = postgrestSettings({
    authenticatorUrl: authenticatorUrl(ownerUrl),
    publicUrl: 'http://localhost',
    logLevel: 'error',
  })
  const postgrest = await supervise(
    {
      name: 'plain postgrest',
      command: postgrestBinary(undefined),
      arguments: [],
      environment: { PATH: process.env.PATH, ...settings, PGRST_SERVER_UNIX_SOCKET: socket },
      stopSignal: 'SIGTERM',
      stopMilliseconds: 1_000,
      orphan: 'guard',
      folderToDeleteWhenOrphaned: socketFolder,
      readyMilliseconds: 30_000,
      isReady: () => hasSchemaCache(upstream),
    },
    log,
  )
  undo.add(() => postgrest.stop())
  return { ownerUrl, upstream }
}
