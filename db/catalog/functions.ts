import type { Reading } from './statement.ts'

export const readFunctions: Reading = (tx, schemas) => tx`
  select n.nspname as schema, 'function' as kind, p.proname || '(' || pg_get_function_identity_arguments(p.oid) || ')' as object,
    'definition' as part, '' as name, rtrim(pg_get_functiondef(p.oid), E'\n') || ';' as statement
  from pg_proc p
  join pg_namespace n on n.oid = p.pronamespace
  where p.prokind in ('f', 'p', 'w') and n.nspname = any(${schemas})
    and not exists (select from pg_depend d where d.classid = 'pg_proc'::regclass and d.objid = p.oid and d.deptype in ('e', 'i'))`

export const readEventTriggers: Reading = (tx, schemas) => tx`
  select '' as schema, 'event trigger' as kind, e.evtname as object, 'definition' as part, '' as name,
    concat(format('create event trigger %I on %s', e.evtname, e.evtevent), ' when tag in (' || array_to_string(e.evttags, ', ') || ')',
      ' execute function ', p.oid::regproc, '(); -- ', case e.evtenabled when 'D' then 'disabled' else 'enabled' end) as statement
  from pg_event_trigger e
  join pg_proc p on p.oid = e.evtfoid
  join pg_namespace n on n.oid = p.pronamespace
  where n.nspname = any(${schemas})`
