import type { Sql } from 'postgres'
import { readComments } from './comments.ts'
import { readEventTriggers, readFunctions } from './functions.ts'
import { readDefaultPrivileges, readGrants } from './grants.ts'
import { readRoles } from './roles.ts'
import { readPolicies, readRowSecurity } from './row_security.ts'
import { readExtensions, readSchemas } from './schemas.ts'
import { kinds, parts, type Reading, type Statement } from './statement.ts'
import {
  readColumnSettings,
  readIndexes,
  readReplicaIdentity,
  readRules,
  readStatistics,
  readTables,
  readTriggers,
} from './tables.ts'
import { readComposites, readDomains, readEnums, readRanges, readSequences } from './types.ts'
import { findUnread } from './unread.ts'
import { readViewDefaults, readViews } from './views.ts'

const readings: readonly Reading[] = [
  readRoles,
  readDefaultPrivileges,
  readExtensions,
  readEventTriggers,
  readSchemas,
  readEnums,
  readComposites,
  readDomains,
  readRanges,
  readSequences,
  readTables,
  readColumnSettings,
  readIndexes,
  readStatistics,
  readReplicaIdentity,
  readRowSecurity,
  readPolicies,
  readTriggers,
  readRules,
  readViews,
  readViewDefaults,
  readFunctions,
  readGrants,
  readComments,
]

export const ourSchemas = ['api', 'internal'] as const

/**
 * The schema as SQL, read from the catalog: object by object, in an order that depends on names only,
 * and the same whoever owns the database. It is for reading and comparing; objects stand by name, not by dependency.
 */
export async function readSchemaText(sql: Sql, schemas: readonly string[] = ourSchemas): Promise<string> {
  const statements = await sql.begin('isolation level repeatable read read only', async (tx) => {
    await tx`select set_config(name, setting, true) from (values ('search_path', ''), ('timezone', 'UTC'), ('datestyle', 'ISO'), ('intervalstyle', 'iso_8601')) s (name, setting)`
    const unread = await findUnread(tx, schemas)
    if (unread.length > 0) throw new Error(`db/catalog cannot read: ${unread.join(', ')}`)
    const read: Statement[] = []
    for (const reading of readings) read.push(...(await reading(tx, schemas)))
    return read
  })
  return print(statements.sort(inReadingOrder))
}

function inReadingOrder(a: Statement, b: Statement): number {
  return (
    compare(a.schema, b.schema) ||
    kinds.indexOf(a.kind) - kinds.indexOf(b.kind) ||
    compare(a.object, b.object) ||
    parts.indexOf(a.part) - parts.indexOf(b.part) ||
    compare(a.name, b.name)
  )
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

function print(statements: readonly Statement[]): string {
  let text =
    '-- The whole schema as it stands, for reading: objects by schema, kind and name. Written by npm run db:schema.\n'
  let section = ''
  let object = ''
  let part = ''
  for (const statement of statements) {
    const nextSection =
      statement.kind === 'schema' ? `schema ${statement.schema}` : `${statement.schema} ${statement.kind}s`.trim()
    const nextObject = `${nextSection} ${statement.object}`
    if (nextSection !== section) text += `\n\n-- ${nextSection} ${'-'.repeat(100 - nextSection.length)}\n`
    if (nextObject !== object || isApart(statement.part, part)) text += '\n'
    text += `${statement.statement}\n`
    ;[section, object, part] = [nextSection, nextObject, statement.part]
  }
  return text
}

const close: ReadonlySet<string> = new Set(['comment', 'detail comment'])

function isApart(part: string, previous: string): boolean {
  return part !== previous && !(close.has(part) && close.has(previous))
}
