import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { commandOf, isAlive } from '../processes.ts'
import { StackError } from '../stack_error.ts'

export interface Postmaster {
  pid: number
  isReady: boolean
}

const PID_LINE = 0
const STATUS_LINE = 7

const pidFile = (dataFolder: string) => join(dataFolder, 'postmaster.pid')

/** What postmaster.pid says; undefined when there is none. */
export async function readPostmaster(dataFolder: string): Promise<Postmaster | undefined> {
  const text = await readFile(pidFile(dataFolder), 'utf8').catch(() => undefined)
  const lines = text?.split('\n')
  const pid = Number(lines?.[PID_LINE])
  if (lines === undefined || !Number.isInteger(pid)) return undefined
  return { pid, isReady: lines[STATUS_LINE]?.trim() === 'ready' }
}

/**
 * A start that was killed with -9 may leave its Postgres running for a moment, or a postmaster.pid whose number now
 * belongs to another process (after a restart of a container, for one) or to a zombie. These are cleared away; the file of
 * a Postgres that is simply dead is left to Postgres, which knows how to tell.
 */
export async function clearLeftover(dataFolder: string): Promise<void> {
  const leftover = await readPostmaster(dataFolder)
  if (leftover === undefined) return
  const command = commandOf(leftover.pid)
  if (command?.includes(dataFolder) === true) {
    process.kill(leftover.pid, 'SIGINT')
    for (let waited = 0; waited < 10_000 && isAlive(leftover.pid); waited += 50) await sleep(50)
    if (isAlive(leftover.pid)) {
      throw new StackError(`Another Postgres (process ${leftover.pid}) holds ${dataFolder} and does not stop.`)
    }
  } else if (isAlive(leftover.pid)) {
    await rm(pidFile(dataFolder), { force: true })
  }
}
