import { chmod, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { type Connection, readConnection, writeConnection } from './connection.ts'
import { assertDatabaseAnswers, ensureAuthenticator, setDeployment } from './database.ts'
import type { Driver } from './driver.ts'
import { keepOrIssueKeys } from './lading_keys.ts'
import { lockDataFolder } from './lock.ts'
import type { Log } from './log.ts'
import { applyMigrations } from './migrations.ts'
import { freePort, isFree } from './ports.ts'
import { startSidecarProgram, startWorkerProgram } from './programs.ts'
import type { Settings } from './settings.ts'
import { StackError } from './stack_error.ts'
import { privateFolder, removeFolder } from './temporary_folder.ts'

export interface Stack {
  readonly connection: Connection
  readonly connectionFile: string
  /** True when keys were issued by this start: they are shown once. */
  readonly hasNewKeys: boolean
  stop(): Promise<void>
}

const choosePort = async (settings: Settings): Promise<number> => {
  if (settings.PORT === 0) return freePort(settings.HOST)
  if (await isFree(settings.PORT, settings.HOST)) return settings.PORT
  throw new StackError(
    `PORT: ${settings.PORT} is in use or not allowed. Set PORT to another one (0 takes any free port).`,
  )
}

const makeDataDir = async (dataDir: string): Promise<void> => {
  try {
    const made = await mkdir(dataDir, { recursive: true })
    // The user postgres may have to pass through to its data; connection.json in here is readable by us only.
    if (made !== undefined) await chmod(dataDir, 0o711)
  } catch (error) {
    throw new StackError(`DATA_DIR: ${dataDir} cannot be made: ${error instanceof Error ? error.message : error}`)
  }
}

const previousPostgres = (previous: Connection | undefined): { preferredPort?: number; ownerPassword?: string } => {
  if (previous === undefined || !URL.canParse(previous.database_url)) return {}
  const { port, password, username } = new URL(previous.database_url)
  return username === 'lading' && password !== '' ? { preferredPort: Number(port), ownerPassword: password } : {}
}

/** Starts everything, in order; what has started is stopped again when a later part fails. */
export async function startStack(settings: Settings, driver: Driver, log: Log): Promise<Stack> {
  const undo: (() => Promise<unknown>)[] = []
  const stop = async () => {
    for (const step of undo.splice(0).reverse()) await step()
  }
  try {
    const port = await choosePort(settings)
    const publicUrl = settings.PUBLIC_URL ?? `http://localhost:${port}`
    await makeDataDir(settings.DATA_DIR)
    const socketFolder = await privateFolder()
    undo.push(() => removeFolder(socketFolder))
    undo.push(await lockDataFolder(settings.DATA_DIR, socketFolder))
    const previous = await readConnection(settings.DATA_DIR)

    let ownerUrl = settings.DATABASE_URL
    if (ownerUrl === undefined) {
      const postgres = await driver.startPostgres({
        dataFolder: join(settings.DATA_DIR, 'postgres'),
        ...previousPostgres(previous),
        isDurable: true,
        log,
      })
      undo.push(() => postgres.stop())
      ownerUrl = postgres.ownerUrl
    } else {
      await assertDatabaseAnswers(ownerUrl)
    }

    await applyMigrations(ownerUrl, log)
    const authenticatorUrl = await ensureAuthenticator(ownerUrl)
    await setDeployment(ownerUrl, { publicUrl, allowPrivateAddresses: settings.ALLOW_PRIVATE_ADDRESSES })

    const postgrest = await driver.startPostgrest({
      authenticatorUrl,
      publicUrl,
      socketFolder,
      logLevel: settings.LOG_LEVEL,
      ...(settings.POSTGREST_BIN === undefined ? {} : { binary: settings.POSTGREST_BIN }),
      log,
    })
    undo.push(() => postgrest.stop())

    const programs = await Promise.allSettled([
      startSidecarProgram(settings, { port, publicUrl, authenticatorUrl, upstream: postgrest.upstream }, log),
      startWorkerProgram(settings, ownerUrl, log),
    ])
    const running = programs.flatMap((program) => (program.status === 'fulfilled' ? [program.value] : []))
    undo.push(() => Promise.all(running.map((program) => program.stop())))
    const failed = programs.find((program) => program.status === 'rejected')
    if (failed !== undefined) throw failed.reason

    const { isNew, ...keys } = await keepOrIssueKeys(ownerUrl, previous, settings.DEMO)

    const connection: Connection = {
      base_url: publicUrl,
      rest_url: `${publicUrl}/rest/v1`,
      database_url: ownerUrl,
      ...keys,
    }
    const connectionFile = await writeConnection(settings.DATA_DIR, connection)
    return { connection, connectionFile, hasNewKeys: isNew, stop }
  } catch (error) {
    await stop()
    throw error
  }
}
