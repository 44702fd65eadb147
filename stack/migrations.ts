import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { commit, Logger as MigrateLogger, migrate, type Settings, watch } from 'graphile-migrate'
import { clearAllPools } from 'graphile-migrate/dist/pgReal.js'
import { runMigrations, Logger as WorkerLogger } from 'graphile-worker'
import { withDatabase } from './database.ts'
import { StackError } from './stack_error.ts'

/** Where graphile-migrate and graphile-worker say what they do. */
export interface MigrationLog {
  error(message: string): void
  warn(message: string): void
  debug(message: string): void
  trace(message: string): void
}

const root = join(import.meta.dirname, '..')

const levels = { error: 'error', warning: 'warn', info: 'debug', debug: 'trace' } as const

const writeTo = (log: MigrationLog) => () => (level: keyof typeof levels, message: string) =>
  log[levels[level]](message)

const readSettings = async (url: string, log: MigrationLog): Promise<Settings> => {
  const fromFile = JSON.parse(await readFile(join(root, '.gmrc'), 'utf8')) as Settings
  return {
    ...fromFile,
    migrationsFolder: join(root, fromFile.migrationsFolder ?? 'db'),
    connectionString: url,
    rootConnectionString: inDatabase(url, 'postgres'),
    shadowConnectionString: shadowOf(url),
    logger: new MigrateLogger(writeTo(log)),
  }
}

export const inDatabase = (url: string, database: string): string => {
  const changed = new URL(url)
  changed.pathname = `/${database}`
  return changed.href
}

export const databaseOf = (url: string): string => decodeURIComponent(new URL(url).pathname.slice(1))

export const shadowOf = (url: string): string => inDatabase(url, `${databaseOf(url)}_shadow`)

const installWorkerSchema = (url: string, log: MigrationLog): Promise<void> =>
  runMigrations({
    connectionString: url,
    logger: new WorkerLogger(writeTo(log)),
  })

/** graphile-migrate keeps idle connections for a while, and ends this process when one of them breaks. */
const runMigrate = async (
  url: string,
  log: MigrationLog,
  action: (settings: Settings) => Promise<unknown>,
): Promise<void> => {
  try {
    await action(await readSettings(url, log))
  } finally {
    clearAllPools()
  }
}

/** The deploy step: graphile-worker's schema and the committed migrations. What is applied already is left alone. */
export async function applyMigrations(url: string, log: MigrationLog): Promise<void> {
  try {
    await installWorkerSchema(url, log)
    await runMigrate(url, log, (settings) => migrate(settings))
  } catch (error) {
    throw new StackError(`The migrations could not be applied: ${error instanceof Error ? error.message : error}`)
  }
}

/** The committed migrations and then db/current.sql, what is not committed yet. */
export async function applyCurrent(url: string, log: MigrationLog): Promise<void> {
  await installWorkerSchema(url, log)
  await runMigrate(url, log, (settings) => watch(settings, true))
}

export async function watchCurrent(url: string, log: MigrationLog): Promise<void> {
  await installWorkerSchema(url, log)
  await watch(await readSettings(url, log))
}

export const commitCurrent = (url: string, log: MigrationLog, message?: string): Promise<void> =>
  runMigrate(url, log, (settings) => commit(settings, message))

/**
 * Empties the database by dropping its owner's schemas, then builds it anew. The database itself stays: who is connected
 * stays connected.
 */
export async function resetDatabase(url: string, log: MigrationLog): Promise<void> {
  await withDatabase(url, async (sql) => {
    const schemas = await sql<{ name: string }[]>`
      select nspname as name from pg_namespace where nspowner = current_user::regrole and nspname !~ '^pg_'`
    for (const { name } of schemas) log.debug(`dropping schema ${name}`)
    if (schemas.length > 0) {
      await sql.unsafe(`drop schema ${schemas.map(({ name }) => `"${name.replaceAll('"', '""')}"`).join(', ')} cascade`)
    }
  })
  await applyMigrations(url, log)
}
