import type { TransactionSql } from 'postgres'
import type { Html } from './html.ts'

export interface Business {
  id: string
  name: string
  /** IANA name of the zone that times are shown in. */
  zone: string
}

/** One request of somebody who came in through a valid link; `sql` sees the rows of that business only. */
export interface Visit {
  sql: TransactionSql
  business: Business
  /** Name of the installation. */
  installation: string
  /** Path of the portal, `/portal`. */
  base: string
  publicUrl: string
  /** What every form of this session carries. */
  formToken: string
  now: Date
  query: URLSearchParams
  /** The fields of a posted form; empty on GET. */
  form: URLSearchParams
  parameter(name: string): string
}

export type Section = 'overview' | 'deliveries' | 'replay'

export interface Page {
  status?: 200 | 400 | 404 | 409 | 422
  title: string
  section?: Section
  /** Said at the top of the page. */
  notice?: string | undefined
  main: Html
}

export interface Redirect {
  /** Path below the portal's. */
  to: string
}

export type Handler = (visit: Visit) => Promise<Page | Redirect>
