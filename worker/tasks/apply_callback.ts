import type { Task } from 'graphile-worker'
import { refusalOf } from '../../stack/database_refusal.ts'
import type { Parts } from './parts.ts'
import { aboutRecord } from './payload.ts'

/** Applies a message to a step that is not synchronous. One that is refused leaves the queue, with the reason kept. */
export const applyCallback =
  ({ sql }: Parts): Task =>
  async (payload) => {
    const { id } = aboutRecord.parse(payload)
    try {
      await sql`select internal.apply_queued_callback(${id})`
    } catch (error) {
      const refusal = refusalOf(error)
      if (refusal === undefined) throw error
      await sql`select internal.refuse_queued_callback(${id}, ${refusal.message})`
    }
  }
