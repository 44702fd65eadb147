import type { Task } from 'graphile-worker'
import type { Parts } from './parts.ts'
import { aboutConfiguration } from './payload.ts'

/** Something of a configuration is due. The job ends at once: what is to be delivered stands in the database. */
export const deliverWebhooks =
  ({ deliverer }: Parts): Task =>
  (payload) => {
    deliverer.wake(aboutConfiguration.parse(payload).webhook_configuration_id)
    return Promise.resolve()
  }
