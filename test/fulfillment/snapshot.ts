import { expect } from 'vitest'
import type { Sql } from '../../stack/database.ts'

/** A checksum of every table of api and internal, and of the jobs that wait. */
export const snapshot = async (sql: Sql): Promise<Record<string, string>> => {
  const tables = await sql<{ name: string }[]>`
    select format('%I.%I', n.nspname, c.relname) as name
    from pg_class c
    join pg_namespace n on n.oid = c.relnamespace
    where c.relkind = 'r' and n.nspname in ('api', 'internal')
    order by 1`
  const checksums = [...tables.map(({ name }) => name), 'graphile_worker.jobs']
    .map(
      (name) =>
        `select '${name}' as name, count(*) || ' ' || coalesce(sum(hashtextextended(t::text, 0)), 0) as sum from ${name} t`,
    )
    .join(' union all ')
  const rows = await sql.unsafe<{ name: string; sum: string }[]>(checksums)
  return Object.fromEntries(rows.map(({ name, sum }) => [name, sum]))
}

/** Runs `act` and expects every table to be as it was. */
export const expectUnchanged = async (sql: Sql, act: () => Promise<void>): Promise<void> => {
  const before = await snapshot(sql)
  await act()
  expect(await snapshot(sql)).toEqual(before)
}
