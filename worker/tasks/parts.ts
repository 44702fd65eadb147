import type { Agent } from 'undici'
import type { Sql } from '../../stack/database.ts'
import type { Log } from '../../stack/log.ts'

/** What tasks work with. */
export interface Parts {
  /** As the owner of the database. */
  sql: Sql
  /** To the addresses of warehouses and consumers. */
  outbound: Agent
  log: Log
  /** Time limit of a request to a warehouse. */
  sendMilliseconds: number
}
