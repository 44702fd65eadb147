import type { Agent } from 'undici'
import type { Sql } from '../../stack/database.ts'
import { describeError } from '../../stack/database_refusal.ts'
import type { Log } from '../../stack/log.ts'
import { type Drain, makeDrain } from './drain.ts'
import { makeGate } from './gate.ts'

/** Requests at once, to all consumers together. */
const MOST_AT_ONCE = 1_000

export interface Deliverer {
  /** Begins to deliver what is due of a configuration, or sees to it that what is under way finds it. Does not wait. */
  wake(configurationId: string): void
  /** Ends requests under way and gives back what they carried. */
  stop(): Promise<void>
}

export interface DelivererOptions {
  /** As the owner of the database. */
  sql: Sql
  outbound: Agent
  log: Log
  /** Time limit of a request. */
  milliseconds: number
}

/**
 * Delivers webhooks. What is to be delivered stands in the database: a job only wakes, and holds no place in the worker while
 * consumers take their time. Each configuration is drained by itself, so that one that hangs holds back nobody else; what a
 * process that died has left is found by the sweep.
 */
export function makeDeliverer({ sql, outbound, log, milliseconds }: DelivererOptions): Deliverer {
  const stopping = new AbortController()
  const startDrain = makeDrain({
    sql,
    outbound,
    log,
    milliseconds,
    enter: makeGate(MOST_AT_ONCE),
    stopping: stopping.signal,
  })
  const running = new Map<string, Promise<void>>()
  const drains = new Map<string, Drain>()
  const wokenAgain = new Set<string>()

  const run = async (id: string): Promise<void> => {
    try {
      do {
        wokenAgain.delete(id)
        const drain = startDrain(id)
        drains.set(id, drain)
        await drain.ended
      } while (wokenAgain.has(id) && !stopping.signal.aborted)
    } catch (error) {
      log.error(
        { webhook_configuration_id: id, error: describeError(error) },
        'deliveries stopped, the sweep goes on with them',
      )
    } finally {
      running.delete(id)
      drains.delete(id)
    }
  }

  return {
    wake: (id) => {
      if (stopping.signal.aborted) return
      if (!running.has(id)) running.set(id, run(id))
      else if (drains.get(id)?.wake() !== true) wokenAgain.add(id)
    },
    stop: async () => {
      stopping.abort()
      await Promise.all(running.values())
    },
  }
}
