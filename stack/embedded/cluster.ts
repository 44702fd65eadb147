import { spawn } from 'node:child_process'
import { chownSync } from 'node:fs'
import { access, appendFile, chmod, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { StackError } from '../stack_error.ts'
import type { PostgresBinaries } from './binaries.ts'
import type { Identity } from './identity.ts'

const MAJOR_VERSION = '18'

export const OWNER = 'lading'
export const DATABASE = 'lading'

// The superuser has no password, so nobody logs in as it: what needs one is done in single-user mode while Postgres is down.
const access_rules = `# Written by Lading: passwords only, from this machine only.
host all all 127.0.0.1/32 scram-sha-256
host all all ::1/128 scram-sha-256
`

const environment = (): NodeJS.ProcessEnv => ({ PATH: process.env.PATH, LC_ALL: 'C', TZ: 'UTC' })

const run = (command: string, options: string[], identity: Identity | undefined, input = ''): Promise<void> =>
  new Promise((resolve, reject) => {
    const child = spawn(command, options, {
      ...identity,
      env: environment(),
      cwd: '/',
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    let output = ''
    const keep = (chunk: Buffer) => {
      output += chunk.toString()
    }
    child.stdout.on('data', keep)
    child.stderr.on('data', keep)
    child.stdin.on('error', () => undefined)
    child.once('error', (error) => reject(new StackError(`${command} could not be run: ${error.message}`)))
    child.once('close', (code) => {
      const problem = /\b(ERROR|FATAL|PANIC):.*/.exec(output)?.[0]
      if (code === 0 && problem === undefined) resolve()
      else reject(new StackError(`${command} failed: ${problem ?? output.trim()}`))
    })
    child.stdin.end(input)
  })

const singleUser = (binaries: PostgresBinaries, folder: string, identity: Identity | undefined, statements: string[]) =>
  run(
    binaries.postgres,
    ['--single', '-D', folder, '-c', 'log_statement=none', '-c', 'log_min_error_statement=panic', 'postgres'],
    identity,
    statements.map((statement) => `${statement}\n`).join(''),
  )

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  )

/** Makes folders that are missing; the user postgres may pass through those made here. */
export async function makeDataFolder(dataFolder: string): Promise<void> {
  const home = dirname(dataFolder)
  if (await exists(home)) return
  await mkdir(home, { recursive: true }).catch((error: Error) => {
    throw new StackError(`DATA_DIR: ${home} cannot be made: ${error.message}`)
  })
  await chmod(home, 0o711)
}

/**
 * Makes the cluster in `dataFolder` if there is none: a database with an owner who is no superuser. An attempt that was
 * interrupted leaves no half cluster behind, since the folder gets its name last.
 */
export async function makeCluster(
  binaries: PostgresBinaries,
  dataFolder: string,
  identity: Identity | undefined,
  options: { ownerPassword: string; isDurable: boolean },
): Promise<'made' | 'found'> {
  if (await exists(join(dataFolder, 'PG_VERSION'))) {
    const version = (await readFile(join(dataFolder, 'PG_VERSION'), 'utf8')).trim()
    if (version === MAJOR_VERSION) return 'found'
    throw new StackError(`${dataFolder} holds data of PostgreSQL ${version}; this is PostgreSQL ${MAJOR_VERSION}.`)
  }
  const unfinished = `${dataFolder}.unfinished`
  await rm(unfinished, { recursive: true, force: true })
  await mkdir(unfinished, { mode: 0o700 })
  if (identity !== undefined) chownSync(unfinished, identity.uid, identity.gid)
  await run(
    binaries.initdb,
    [
      `--pgdata=${unfinished}`,
      '--username=postgres',
      '--auth=trust',
      '--encoding=UTF8',
      '--locale=C',
      '--locale-provider=builtin',
      '--builtin-locale=C.UTF-8',
      '--no-instructions',
      ...(options.isDurable ? [] : ['--no-sync']),
    ],
    identity,
  )
  await writeFile(join(unfinished, 'pg_hba.conf'), access_rules)
  await appendFile(join(unfinished, 'postgresql.conf'), '\n# Lading passes its settings on the command line.\n')
  await singleUser(binaries, unfinished, identity, [
    `create role ${OWNER} login createrole createdb password '${options.ownerPassword}'`,
    `grant pg_signal_backend to ${OWNER}`,
    `create database ${DATABASE} owner ${OWNER}`,
  ])
  await rename(unfinished, dataFolder)
  return 'made'
}

export const setOwnerPassword = (
  binaries: PostgresBinaries,
  dataFolder: string,
  identity: Identity | undefined,
  password: string,
): Promise<void> => singleUser(binaries, dataFolder, identity, [`alter role ${OWNER} password '${password}'`])
