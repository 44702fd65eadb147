import { Logger, run } from 'graphile-worker'
import type { Log } from '../stack/log.ts'
import { crontab, makeTasks } from './tasks.ts'

const levels = { error: 'error', warning: 'warn', info: 'debug', debug: 'trace' } as const

export interface Worker {
  /** Settles when the worker has ended, rejects when it failed. */
  readonly ended: Promise<void>
  stop(): Promise<void>
}

export async function startWorker(options: { ownerUrl: string; concurrency: number; log: Log }): Promise<Worker> {
  const { log } = options
  const runner = await run({
    connectionString: options.ownerUrl,
    concurrency: options.concurrency,
    maxPoolSize: options.concurrency + 2,
    taskList: makeTasks(log),
    crontab,
    noHandleSignals: true,
    gracefulShutdownAbortTimeout: 1_000,
    logger: new Logger((scope) => (level, message) => log[levels[level]](scope, message)),
  })
  return { ended: runner.promise, stop: () => runner.stop() }
}
