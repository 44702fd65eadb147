import type { Sql } from '../../stack/database.ts'

const roles = ['anon', 'authenticator', 'business', 'operator', 'warehouse'] as const

/** What each role may do, by object; with the columns where not all may be named. */
export type Exposure = Record<string, Partial<Record<(typeof roles)[number], string>>>

interface Allowed {
  object: string
  role: (typeof roles)[number]
  allowed: string
}

function byObject(rows: readonly Allowed[]): Exposure {
  const exposure: Exposure = {}
  for (const { object, role, allowed } of rows) exposure[object] = { ...exposure[object], [role]: allowed }
  return exposure
}

export const readRelations = async (sql: Sql, schema: string): Promise<Exposure> =>
  byObject(
    await sql<Allowed[]>`
    select c.relname as object, r.rolname as role,
      string_agg(v.verb || case when w.whole then '' else ' (' || w.columns || ')' end, ' ' order by v.position) as allowed
    from pg_class c
    cross join pg_roles r
    cross join unnest(array['select', 'insert', 'update', 'delete', 'truncate', 'references', 'trigger', 'maintain'])
      with ordinality v (verb, position)
    cross join lateral (
      select has_table_privilege(r.oid, c.oid, v.verb) as whole,
        (select string_agg(a.attname, ', ' order by a.attnum) from pg_attribute a
          where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and case
            when v.verb in ('select', 'insert', 'update', 'references') then has_column_privilege(r.oid, c.oid, a.attnum, v.verb)
          end) as columns
    ) w
    where c.relnamespace = ${schema}::regnamespace and c.relkind in ('r', 'p', 'v', 'm', 'f')
      and r.rolname = any(${roles}) and (w.whole or w.columns is not null)
    group by c.relname, r.rolname`,
  )

export const readFunctions = async (sql: Sql, schema: string): Promise<Exposure> =>
  byObject(
    await sql<Allowed[]>`
    select p.proname as object, r.rolname as role, 'execute' as allowed
    from pg_proc p
    cross join pg_roles r
    where p.pronamespace = ${schema}::regnamespace and r.rolname = any(${roles})
      and has_function_privilege(r.oid, p.oid, 'execute')
      and not exists (select from pg_depend d where d.classid = 'pg_proc'::regclass and d.objid = p.oid and d.deptype = 'e')`,
  )

export const readSchemaPrivileges = async (sql: Sql): Promise<Exposure> =>
  byObject(
    await sql<Allowed[]>`
    select n.nspname as object, r.rolname as role, string_agg(v.verb, ' ' order by v.verb desc) as allowed
    from pg_namespace n
    cross join pg_roles r
    cross join unnest(array['usage', 'create']) v (verb)
    where n.nspname not like 'pg\\_%' and n.nspname <> 'information_schema' and r.rolname = any(${roles})
      and has_schema_privilege(r.oid, n.oid, v.verb)
    group by n.nspname, r.rolname`,
  )
