import type { Task } from 'graphile-worker'
import { freeJobsOfDeadWorkers } from '../presence.ts'
import type { Parts } from './parts.ts'

/** What a worker had taken when it was killed is done by another one. */
export const freeJobs =
  ({ sql, log }: Parts): Task =>
  async () => {
    const freed = await freeJobsOfDeadWorkers(sql)
    if (freed > 0) log.warn({ freed }, 'jobs of workers that are gone were freed')
  }
