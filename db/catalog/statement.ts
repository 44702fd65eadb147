import type { TransactionSql } from 'postgres'

/** One piece of the schema's text: where it belongs in the file, and what it says. */
export interface Statement {
  /** Empty for what belongs to no schema (roles, extensions). */
  schema: string
  kind: Kind
  object: string
  part: Part
  /** Orders statements of the same part of one object. */
  name: string
  statement: string
}

/** In the order in which a schema is read. */
export const kinds = [
  'role',
  'extension',
  'event trigger',
  'schema',
  'type',
  'sequence',
  'table',
  'view',
  'function',
] as const
export type Kind = (typeof kinds)[number]

/** In the order in which an object is read. */
export const parts = [
  'definition',
  'setting',
  'comment',
  'detail comment',
  'index',
  'statistics',
  'replica identity',
  'row security',
  'policy',
  'grant',
  'default privilege',
  'rule',
  'trigger',
] as const
export type Part = (typeof parts)[number]

export type Reading = (tx: TransactionSql, schemas: readonly string[]) => Promise<Statement[]>
