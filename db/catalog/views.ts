import type { Reading } from './statement.ts'

export const readViews: Reading = (tx, schemas) => tx`
  select n.nspname as schema, 'view' as kind, c.relname as object, 'definition' as part, '' as name,
    concat('create ', case c.relkind when 'm' then 'materialized ' end, 'view ', c.oid::regclass,
      ' with (' || array_to_string(c.reloptions, ', ') || ')', E' as\n', pg_get_viewdef(c.oid, true)) as statement
  from pg_class c
  join pg_namespace n on n.oid = c.relnamespace
  where c.relkind in ('v', 'm') and n.nspname = any(${schemas})`

export const readViewDefaults: Reading = (tx, schemas) => tx`
  select n.nspname as schema, 'view' as kind, c.relname as object, 'setting' as part, a.attname as name,
    format('alter view %s alter %I set default %s;', c.oid::regclass, a.attname, pg_get_expr(d.adbin, d.adrelid, true)) as statement
  from pg_attrdef d
  join pg_attribute a on (a.attrelid, a.attnum) = (d.adrelid, d.adnum)
  join pg_class c on c.oid = d.adrelid
  join pg_namespace n on n.oid = c.relnamespace
  where c.relkind = 'v' and n.nspname = any(${schemas})`
