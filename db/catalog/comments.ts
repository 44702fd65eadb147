import type { Reading } from './statement.ts'

export const readComments: Reading = (tx, schemas) => tx`
  with described as (
    select d.*, i.type, i.identity, n.nspname,
      coalesce(c.relname, t.typname, p.proname || '(' || pg_get_function_identity_arguments(p.oid) || ')', '') as object, c.relkind
    from pg_description d
    cross join pg_identify_object(d.classoid, d.objoid, d.objsubid) i
    left join pg_constraint k on d.classoid = 'pg_constraint'::regclass and k.oid = d.objoid
    left join pg_policy pol on d.classoid = 'pg_policy'::regclass and pol.oid = d.objoid
    left join pg_trigger tg on d.classoid = 'pg_trigger'::regclass and tg.oid = d.objoid
    left join pg_index x on d.classoid = 'pg_class'::regclass and x.indexrelid = d.objoid
    left join pg_type t on t.oid = case when d.classoid = 'pg_type'::regclass then d.objoid else nullif(k.contypid, 0) end
    left join pg_class c on c.oid = coalesce(nullif(t.typrelid, 0), nullif(k.conrelid, 0), pol.polrelid, tg.tgrelid, x.indrelid,
      case when d.classoid = 'pg_class'::regclass then d.objoid end)
    left join pg_proc p on d.classoid = 'pg_proc'::regclass and p.oid = d.objoid
    join pg_namespace n on n.oid = coalesce(c.relnamespace, t.typnamespace, p.pronamespace, case when d.classoid = 'pg_namespace'::regclass then d.objoid end)
    where n.nspname = any(${schemas})
  )
  select nspname as schema,
    case when type = 'schema' then 'schema' when type in ('function', 'procedure') then 'function' when type = 'sequence' then 'sequence'
      when relkind is null or relkind = 'c' then 'type' when relkind in ('v', 'm') then 'view' else 'table' end as kind,
    object, case when objsubid = 0 and type in ('schema', 'table', 'view', 'materialized view', 'type', 'composite type', 'domain', 'function', 'procedure', 'sequence')
      then 'comment' else 'detail comment' end as part,
    lpad(case when objsubid > 0 then objsubid else 9999 end::text, 4, '0') || identity as name,
    format('comment on %s %s is %L;',
      case when type like '% column' then 'column' when type like '% constraint' then 'constraint' when type = 'composite type' then 'type' else type end,
      case when type = 'domain constraint' then replace(identity, ' on ', ' on domain ') else identity end, description) as statement
  from described`
