import { Logger, run } from 'graphile-worker'
import { connect } from '../stack/database.ts'
import type { Log } from '../stack/log.ts'
import { makeOutboundAgent } from './outbound/agent.ts'
import { announcePresence } from './presence.ts'
import { scheduleFiring } from './tasks/fire_webhooks.ts'
import { crontab, makeTasks } from './tasks.ts'
import { makeDeliverer } from './webhooks/deliverer.ts'

const levels = { error: 'error', warning: 'warn', info: 'debug', debug: 'trace' } as const

const DATABASE_CONNECTIONS = 4
// Jobs are fetched and ended many at once: it takes few connections, however many run.
const QUEUE_CONNECTIONS = 10
const SEND_MILLISECONDS = 30_000
const DELIVER_MILLISECONDS = 15_000
const FIRE_SECONDS = 60
const RETENTION_DAYS = 30

export interface Worker {
  /** Settles when the worker has ended, rejects when it failed. */
  readonly ended: Promise<void>
  stop(): Promise<void>
}

export interface WorkerOptions {
  ownerUrl: string
  concurrency: number
  log: Log
  /** Off by default: only public addresses are dialled. */
  allowPrivateAddresses?: boolean
  /** Time limit of a request to a warehouse. */
  sendMilliseconds?: number
  /** Time limit of a request to a consumer of webhooks. */
  deliverMilliseconds?: number
  fireSeconds?: number
  retentionDays?: number
}

export async function startWorker(options: WorkerOptions): Promise<Worker> {
  const { log } = options
  const sql = connect(options.ownerUrl, DATABASE_CONNECTIONS)
  const outbound = makeOutboundAgent({ allowPrivateAddresses: options.allowPrivateAddresses ?? false })
  const presence = announcePresence(options.ownerUrl)
  const deliverer = makeDeliverer({
    sql,
    outbound,
    log,
    milliseconds: options.deliverMilliseconds ?? DELIVER_MILLISECONDS,
  })
  const release = async () => {
    await deliverer.stop()
    await Promise.all([outbound.destroy(), sql.end({ timeout: 1 }), presence.end()])
  }
  try {
    const runner = await run({
      connectionString: options.ownerUrl,
      concurrency: options.concurrency,
      maxPoolSize: QUEUE_CONNECTIONS,
      taskList: makeTasks({
        sql,
        outbound,
        log,
        deliverer,
        sendMilliseconds: options.sendMilliseconds ?? SEND_MILLISECONDS,
        fireSeconds: options.fireSeconds ?? FIRE_SECONDS,
        retentionDays: options.retentionDays ?? RETENTION_DAYS,
      }),
      crontab,
      events: presence.events,
      noHandleSignals: true,
      preset: {
        worker: {
          gracefulShutdownAbortTimeout: 1_000,
          localQueue: { size: 5 * options.concurrency },
          completeJobBatchDelay: 0,
          failJobBatchDelay: 0,
        },
      },
      logger: new Logger((scope) => (level, message) => log[levels[level]](scope, message)),
    })
    const ended = runner.promise.finally(release)
    await scheduleFiring(runner.addJob, new Date())
    return {
      ended,
      stop: async () => {
        await runner.stop()
        await ended
      },
    }
  } catch (error) {
    await release()
    throw error
  }
}
