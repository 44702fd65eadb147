import { EventEmitter } from 'node:events'
import type { WorkerEvents } from 'graphile-worker'
import postgres from 'postgres'
import type { Sql } from '../stack/database.ts'

const LOCK_CLASS = 7_233_401

/**
 * A running worker holds an advisory lock for each of its names. Postgres lets go of it when the process is gone, however it
 * ended, so that others can tell whose jobs will never be finished.
 */
export interface Presence {
  /** For graphile-worker: tells the names under which jobs are taken. */
  events: WorkerEvents
  end(): Promise<void>
}

export function announcePresence(ownerUrl: string): Presence {
  const sql = postgres(ownerUrl, { max: 1, max_lifetime: null, connection: { application_name: 'lading worker' } })
  const announce = (name: string) => {
    sql`select pg_advisory_lock_shared(${LOCK_CLASS}, hashtext(${name}))`.catch(() => undefined)
  }
  const events: WorkerEvents = new EventEmitter()
  events.on('pool:create', ({ workerPool }) => announce(workerPool.id))
  events.on('worker:create', ({ worker }) => announce(worker.workerId))
  return { events, end: () => sql.end({ timeout: 1 }) }
}

/** Frees the jobs of workers that are gone; graphile-worker itself waits four hours. Returns how many. */
export async function freeJobsOfDeadWorkers(sql: Sql): Promise<number> {
  const [row] = await sql<{ freed: number }[]>`
    with taken as (
      select locked_by, count(*)::integer as jobs
      from graphile_worker._private_jobs
      where locked_at < now() - interval '1 minute'
      group by locked_by
    ),
    dead as (
      select locked_by, jobs from taken where pg_try_advisory_xact_lock(${LOCK_CLASS}, hashtext(locked_by))
    ),
    freed as (
      select graphile_worker.force_unlock_workers(array(select locked_by from dead))
    )
    select coalesce(sum(jobs), 0)::integer as freed from dead where (select count(*) from freed) = 1`
  return row?.freed ?? 0
}
