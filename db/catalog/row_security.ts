import type { Reading } from './statement.ts'

export const readRowSecurity: Reading = (tx, schemas) => tx`
  select n.nspname as schema, 'table' as kind, c.relname as object, 'row security' as part, '' as name,
    format('alter table %s %s;', c.oid::regclass, concat_ws(', ',
      case when c.relrowsecurity then 'enable row level security' end,
      case when c.relforcerowsecurity then 'force row level security' end)) as statement
  from pg_class c
  join pg_namespace n on n.oid = c.relnamespace
  where (c.relrowsecurity or c.relforcerowsecurity) and n.nspname = any(${schemas})`

export const readPolicies: Reading = (tx, schemas) => tx`
  select n.nspname as schema, 'table' as kind, c.relname as object, 'policy' as part, p.polname as name,
    concat(format('create policy %I on %s', p.polname, c.oid::regclass),
      case when not p.polpermissive then ' as restrictive' end,
      ' for ', case p.polcmd when 'r' then 'select' when 'a' then 'insert' when 'w' then 'update' when 'd' then 'delete' else 'all' end,
      ' to ', (select string_agg(case role when 0 then 'public' when c.relowner then 'owner' else role::regrole::text end, ', '
          order by case role when c.relowner then 'owner' else role::regrole::text end collate "C")
        from unnest(p.polroles) as role),
      E'\n  using (' || pg_get_expr(p.polqual, p.polrelid, true) || ')',
      E'\n  with check (' || pg_get_expr(p.polwithcheck, p.polrelid, true) || ')', ';') as statement
  from pg_policy p
  join pg_class c on c.oid = p.polrelid
  join pg_namespace n on n.oid = c.relnamespace
  where n.nspname = any(${schemas})`
