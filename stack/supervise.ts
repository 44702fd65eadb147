import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Guard, guardAgainstOurDeath } from './guard.ts'
import type { Log } from './log.ts'
import { StackError } from './stack_error.ts'

export interface ProcessSpec {
  name: string
  command: string
  arguments: string[]
  environment: NodeJS.ProcessEnv
  identity?: { uid: number; gid: number }
  stopSignal: NodeJS.Signals
  /** How long the process may take to end after the stop signal before it is killed. */
  stopMilliseconds: number
  /** How it notices that we are gone: our own programs hold an IPC channel, others are ended by a guard. */
  orphan: 'channel' | 'guard'
  folderToDeleteWhenOrphaned?: string
  /** True once the process does its work. `hasReported`: it sent the message "ready" over its channel. */
  isReady(pid: number, hasReported: boolean): Promise<boolean>
  readyMilliseconds: number
  /** Whether the last words of a process tell of an obstacle that passes by itself: then even the first start is tried again. */
  isPassing?(lastLines: string[]): boolean
  /** Runs before each start, also before a restart. */
  prepare?(): Promise<void>
}

export interface Supervised {
  readonly name: string
  readonly pid: number | undefined
  stop(): Promise<void>
}

const SHORTEST_PAUSE = 100
const LONGEST_PAUSE = 5_000
const HEALTHY_AFTER = 10_000
const KEPT_LINES = 20
const LAST_WORDS_MILLISECONDS = 500

const once = (action: () => void): (() => void) => {
  let isDone = false
  return () => {
    if (!isDone) action()
    isDone = true
  }
}

/** Starts a process, waits until it is ready, and from then on starts it again whenever it ends. */
export async function supervise(spec: ProcessSpec, log: Log): Promise<Supervised> {
  let child: ChildProcess | undefined
  let guard: Guard | undefined
  let ended: Promise<void> = Promise.resolve()
  let stopping = false
  let settled = false
  let pause = SHORTEST_PAUSE
  const stopped = new AbortController()
  let lastLines: string[] = []
  let hasReported = false

  const listen = (stream: NodeJS.ReadableStream | null) => {
    if (stream === null) return
    createInterface({ input: stream }).on('line', (line) => {
      lastLines = [...lastLines.slice(1 - KEPT_LINES), line]
      log.debug({ from: spec.name }, line)
    })
  }

  const launch = (): ChildProcess => {
    const startedAt = Date.now()
    const launched = spawn(spec.command, spec.arguments, {
      ...spec.identity,
      env: spec.environment,
      cwd: spec.identity === undefined ? process.cwd() : '/',
      detached: true,
      stdio: spec.orphan === 'channel' ? ['ignore', 'inherit', 'inherit', 'ipc'] : ['ignore', 'pipe', 'pipe'],
    })
    child = launched
    launched.on('message', (message) => {
      hasReported ||= message === 'ready'
    })
    listen(launched.stdout)
    listen(launched.stderr)
    if (spec.orphan === 'guard' && launched.pid !== undefined) {
      guard = guardAgainstOurDeath(launched.pid, spec.stopSignal, spec.folderToDeleteWhenOrphaned)
    }
    ended = new Promise((resolve) => {
      const end = (reason: string) => {
        guard?.dismiss()
        guard = undefined
        child = undefined
        resolve()
        if (stopping || !settled) return
        log.warn({ from: spec.name, reason, lastLines: lastLines.slice(-3) }, `${spec.name} ended, starting it again`)
        if (Date.now() - startedAt > HEALTHY_AFTER) pause = SHORTEST_PAUSE
        void restart()
      }
      launched.once('error', (error) => {
        lastLines.push(error.message)
        end(error.message)
      })
      launched.once('exit', (code, signal) => {
        // Its last words may still be in the pipe, which children of its own may hold open longer.
        const finish = once(() => end(signal ?? `exit code ${code}`))
        setTimeout(finish, LAST_WORDS_MILLISECONDS)
        launched.once('close', finish)
      })
    })
    return launched
  }

  const restart = async () => {
    const wait = pause
    pause = Math.min(pause * 2, LONGEST_PAUSE)
    await sleep(wait, undefined, { signal: stopped.signal }).catch(() => undefined)
    if (stopping) return
    try {
      await spec.prepare?.()
      if (!stopping) launch()
    } catch (error) {
      log.error({ from: spec.name, err: error }, `${spec.name} could not be started again`)
      void restart()
    }
  }

  const stop = async () => {
    stopping = true
    stopped.abort()
    const running = child
    if (running === undefined) return
    running.kill(spec.stopSignal)
    const timer = setTimeout(() => running.kill('SIGKILL'), spec.stopMilliseconds)
    await ended
    clearTimeout(timer)
  }

  const deadline = Date.now() + spec.readyMilliseconds
  const becomeReady = async (): Promise<boolean> => {
    await spec.prepare?.()
    const { pid } = launch()
    while (child !== undefined && pid !== undefined && !(await spec.isReady(pid, hasReported))) {
      if (Date.now() > deadline) {
        await stop()
        throw new StackError(
          `${spec.name} was not ready within ${spec.readyMilliseconds / 1_000} s.\n${lastLines.join('\n')}`,
        )
      }
      await sleep(15)
    }
    return child !== undefined
  }
  while (!(await becomeReady())) {
    await ended
    if (spec.isPassing?.(lastLines) !== true || Date.now() > deadline) {
      throw new StackError(`${spec.name} could not be started.\n${lastLines.join('\n')}`)
    }
    lastLines = []
    await sleep(SHORTEST_PAUSE)
  }
  settled = true

  return {
    name: spec.name,
    get pid() {
      return child?.pid
    },
    stop,
  }
}
