import type { Sql } from './database.ts'

export type KeyRole = 'operator' | 'business' | 'warehouse'

export async function issueKey(
  sql: Sql,
  role: KeyRole,
  name: string,
  businessId: string | null = null,
): Promise<string> {
  const [issued] = await sql<
    { key: string }[]
  >`select key from internal.issue_key(${role}, ${name}, ${businessId}::uuid)`
  if (issued === undefined) throw new Error('internal.issue_key returned no key')
  return issued.key
}

export async function issueApplicationKey(sql: Sql, name: string): Promise<string> {
  const [issued] = await sql<{ key: string }[]>`select key from internal.issue_application_key(${name})`
  if (issued === undefined) throw new Error('internal.issue_application_key returned no key')
  return issued.key
}
