import type { Sql } from '../../stack/database.ts'

export type Privilege = 'select' | 'insert' | 'update' | 'delete'

export interface Column {
  name: string
  type: string
  isArray: boolean
  isRequired: boolean
  enumValues: string[] | null
}

export interface Reference {
  name: string
  columns: string[]
  target: string
  targetColumns: string[]
}

/** A table or view that PostgREST serves. */
export interface Resource {
  name: string
  isTable: boolean
  columns: Column[]
  /** To tables whose rows belong to a business. */
  references: Reference[]
  privileges: Record<string, Privilege[]>
  isOfBusiness: boolean
}

export const readResources = (sql: Sql): Promise<Resource[]> => sql<Resource[]>`
  select
    c.relname as name,
    c.relkind in ('r', 'p') as "isTable",
    coalesce(bool_or(a.attname = 'business_id'), false) as "isOfBusiness",
    json_agg(json_build_object(
      'name', a.attname,
      'type', format_type(coalesce(nullif(t.typbasetype, 0), t.oid), null),
      'isArray', t.typcategory = 'A',
      'isRequired', a.attnotnull and not a.atthasdef,
      'enumValues', (select json_agg(e.enumlabel order by e.enumsortorder) from pg_enum e where e.enumtypid = t.oid)
    ) order by a.attnum) as columns,
    (
      select coalesce(json_agg(json_build_object(
        'name', k.conname,
        'columns', (select json_agg(attname order by n) from unnest(k.conkey) with ordinality u (attnum, n)
          join pg_attribute f on f.attrelid = k.conrelid and f.attnum = u.attnum),
        'target', k.confrelid::regclass::text,
        'targetColumns', (select json_agg(attname order by n) from unnest(k.confkey) with ordinality u (attnum, n)
          join pg_attribute f on f.attrelid = k.confrelid and f.attnum = u.attnum)
      ) order by k.conname), '[]')
      from pg_constraint k
      join pg_attribute tenant on tenant.attrelid = k.confrelid and tenant.attname = 'business_id'
      where k.conrelid = c.oid and k.contype = 'f'
    ) as references,
    (
      select json_object_agg(r.rolname, (
        select coalesce(json_agg(v.verb), '[]')
        from unnest(array['select', 'insert', 'update', 'delete']) v (verb)
        where case when v.verb = 'delete' then has_table_privilege(r.oid, c.oid, v.verb) else has_any_column_privilege(r.oid, c.oid, v.verb) end
      ))
      from pg_roles r where r.rolname in ('anon', 'business', 'warehouse', 'operator')
    ) as privileges
  from pg_class c
  join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
  join pg_type t on t.oid = a.atttypid
  where c.relnamespace = 'api'::regnamespace and c.relkind in ('r', 'p', 'v', 'm')
  group by c.oid, c.relname, c.relkind
  order by c.relname`

export interface Call {
  name: string
  privileges: Record<string, boolean>
}

export const readCalls = (sql: Sql): Promise<Call[]> => sql<Call[]>`
  select p.proname as name, json_object_agg(r.rolname, has_function_privilege(r.oid, p.oid, 'execute')) as privileges
  from pg_proc p
  cross join pg_roles r
  where p.pronamespace = 'api'::regnamespace and p.prorettype <> 'trigger'::regtype
    and r.rolname in ('anon', 'business', 'warehouse', 'operator')
  group by p.oid, p.proname
  order by p.proname`
