import type { Sql } from '../../stack/database.ts'

/** What the rows of api say, without ids and times; of internal, which keeps secrets, only how many there are. */
export async function readContents(sql: Sql): Promise<Record<string, unknown>> {
  const tables = await sql<{ name: string; isShown: boolean }[]>`
    select format('%I.%I', n.nspname, c.relname) as name, n.nspname = 'api' as "isShown"
    from pg_class c
    join pg_namespace n on n.oid = c.relnamespace
    where c.relkind in ('r', 'p') and n.nspname in ('api', 'internal')
    order by 1`
  const contents: Record<string, unknown> = {}
  for (const { name, isShown } of tables) {
    const said = isShown
      ? `coalesce(jsonb_agg(row order by row), '[]') from (select to_jsonb(t) - '{id,creation_time,update_time}'::text[] as row from ${name} t) r`
      : `to_jsonb(count(*)) from ${name}`
    const [row] = await sql.unsafe<{ said: unknown }[]>(`select ${said.replace(' from ', ' as said from ')}`)
    contents[name] = row?.said
  }
  return contents
}
