import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { commit, Logger as MigrateLogger, migrate, reset, type Settings, watch } from 'graphile-migrate'
import { clearAllPools } from 'graphile-migrate/dist/pgReal.js'
import { runMigrations, Logger as WorkerLogger } from 'graphile-worker'
import type { Log } from './log.ts'
import { StackError } from './stack_error.ts'

const root = join(import.meta.dirname, '..')

const levels = { error: 'error', warning: 'warn', info: 'debug', debug: 'trace' } as const

const writeTo = (log: Log) => () => (level: keyof typeof levels, message: string) => log[levels[level]](message)

const readSettings = async (url: string, log: Log): Promise<Settings> => {
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

const installWorkerSchema = (url: string, log: Log): Promise<void> =>
  runMigrations({
    connectionString: url,
    logger: new WorkerLogger(writeTo(log)),
  })

/** graphile-migrate keeps idle connections for a while, and ends this process when one of them breaks. */
const runMigrate = async (url: string, log: Log, action: (settings: Settings) => Promise<unknown>): Promise<void> => {
  try {
    await action(await readSettings(url, log))
  } finally {
    clearAllPools()
  }
}

/** The deploy step: graphile-worker's schema and the committed migrations. What is applied already is left alone. */
export async function applyMigrations(url: string, log: Log): Promise<void> {
  try {
    await installWorkerSchema(url, log)
    await runMigrate(url, log, (settings) => migrate(settings))
  } catch (error) {
    throw new StackError(`The migrations could not be applied: ${error instanceof Error ? error.message : error}`)
  }
}

/** The committed migrations and then db/current.sql, what is not committed yet. */
export async function applyCurrent(url: string, log: Log): Promise<void> {
  await installWorkerSchema(url, log)
  await runMigrate(url, log, (settings) => watch(settings, true))
}

export async function watchCurrent(url: string, log: Log): Promise<void> {
  await installWorkerSchema(url, log)
  await watch(await readSettings(url, log))
}

export const commitCurrent = (url: string, log: Log, message?: string): Promise<void> =>
  runMigrate(url, log, (settings) => commit(settings, message))

export const resetDatabase = (url: string, log: Log): Promise<void> =>
  runMigrate(url, log, (settings) => reset(settings))
