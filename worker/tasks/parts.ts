import type { Agent } from 'undici'
import type { Sql } from '../../stack/database.ts'
import type { Log } from '../../stack/log.ts'
import type { Deliverer } from '../webhooks/deliverer.ts'

/** What tasks work with. */
export interface Parts {
  /** As the owner of the database. */
  sql: Sql
  /** To the addresses of warehouses and consumers. */
  outbound: Agent
  log: Log
  /** Time limit of a request to a warehouse. */
  sendMilliseconds: number
  deliverer: Deliverer
  /** How often events are fired. */
  fireSeconds: number
  /** How long deliveries are kept. */
  retentionDays: number
}
