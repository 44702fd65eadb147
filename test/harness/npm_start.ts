import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Connection } from '../../stack/connection.ts'

const root = join(import.meta.dirname, '../..')

export interface StartedProcess {
  child: ChildProcess
  output(): string
  /** Exit code, or the signal that ended it. */
  ended: Promise<number | NodeJS.Signals>
  ready(): Promise<Connection>
}

/** Runs what `npm start` runs, as a process of its own. */
export function runStart(dataDir: string, settings: NodeJS.ProcessEnv = {}): StartedProcess {
  const child = spawn(process.execPath, ['stack/start.ts'], {
    cwd: root,
    env: { PATH: process.env.PATH, PORT: '0', DATA_DIR: dataDir, ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString()
    })
  }
  const ended = once(child, 'exit').then(([code, signal]) => (code ?? signal) as number | NodeJS.Signals)
  return {
    child,
    ended,
    output: () => output,
    ready: async () => {
      const deadline = Date.now() + 60_000
      while (!output.includes('Lading is ready')) {
        if (child.exitCode !== null || child.signalCode !== null || Date.now() > deadline) throw new Error(output)
        await sleep(20)
      }
      return JSON.parse(await readFile(join(dataDir, 'connection.json'), 'utf8')) as Connection
    },
  }
}

export interface RunningProcess {
  pid: number
  parent: number
  command: string
}

/** All processes of this machine, from /proc. */
export const processes = (): RunningProcess[] =>
  readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry))
    .flatMap((entry) => {
      try {
        const command = readFileSync(`/proc/${entry}/cmdline`, 'utf8').replaceAll('\0', ' ').trim()
        const status = readFileSync(`/proc/${entry}/stat`, 'utf8')
        const [state, parent] = status.slice(status.lastIndexOf(')') + 2).split(' ')
        return state === 'Z' ? [] : [{ pid: Number(entry), parent: Number(parent), command }]
      } catch {
        return []
      }
    })

/** The processes that a start has begun, directly or through one of its children. */
export const descendants = (pid: number): RunningProcess[] => {
  const all = processes()
  const below = (parent: number): RunningProcess[] =>
    all.filter((each) => each.parent === parent).flatMap((each) => [each, ...below(each.pid)])
  return below(pid)
}

export const isRunning = (pid: number): boolean => processes().some((each) => each.pid === pid)

export async function until(
  what: string,
  condition: () => boolean | Promise<boolean>,
  milliseconds = 10_000,
): Promise<void> {
  const deadline = Date.now() + milliseconds
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`Not within ${milliseconds} ms: ${what}`)
    await sleep(30)
  }
}
