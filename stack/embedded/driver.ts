import type { Driver } from '../driver.ts'
import { startPostgres } from './postgres.ts'
import { startPostgrest } from './postgrest.ts'

/** Postgres and PostgREST as programs that npm installed. */
export const embedded: Driver = { startPostgres, startPostgrest }
