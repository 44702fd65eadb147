import { execFileSync, spawnSync } from 'node:child_process'
import { userInfo } from 'node:os'
import { dirname } from 'node:path'
import { StackError } from '../stack_error.ts'

export interface Identity {
  uid: number
  gid: number
}

const SYSTEM_USER = 'postgres'

const numberOf = (flag: '-u' | '-g'): number =>
  Number(execFileSync('id', [flag, SYSTEM_USER], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }))

const lookUp = (): Identity | undefined => {
  try {
    return { uid: numberOf('-u'), gid: numberOf('-g') }
  } catch {
    return undefined
  }
}

const create = (): void => {
  try {
    execFileSync('groupadd', ['--force', '--system', SYSTEM_USER], { stdio: 'ignore' })
    execFileSync('useradd', ['--system', '--gid', SYSTEM_USER, '--no-create-home', SYSTEM_USER], { stdio: 'ignore' })
  } catch {
    throw new StackError(
      `Postgres refuses to run as root, and there is no user "${SYSTEM_USER}" to run it as (creating one failed). ` +
        'Create that user, or start Lading as an ordinary user.',
    )
  }
}

/** Postgres refuses to run as root: then it runs as the user postgres, who is created when missing. */
export function postgresIdentity(): Identity | undefined {
  if (userInfo().uid !== 0) return undefined
  const known = lookUp()
  if (known !== undefined) return known
  create()
  return lookUp()
}

const canEnter = (folder: string, identity: Identity): boolean =>
  spawnSync('/bin/sh', ['-c', 'cd "$1"', 'sh', folder], { ...identity, cwd: '/', stdio: 'ignore' }).status === 0

/** Says which folder on the way to `folder` keeps the user postgres out, instead of a bare "permission denied". */
export function assertReachable(folder: string, what: string, identity: Identity | undefined): void {
  if (identity === undefined || canEnter(folder, identity)) return
  const path: string[] = []
  for (let step = folder; ; step = dirname(step)) {
    path.unshift(step)
    if (step === dirname(step)) break
  }
  const closed = path.find((step) => !canEnter(step, identity)) ?? folder
  throw new StackError(
    `Postgres cannot run as root, so it runs as the user "${SYSTEM_USER}", who may not enter ${closed}, ` +
      `where ${what} is (${folder}).\n` +
      'Start Lading as an ordinary user, or put it into a folder that other users may enter, such as /srv' +
      (what === 'the data folder' ? ' (DATA_DIR sets the data folder).' : '.'),
  )
}
