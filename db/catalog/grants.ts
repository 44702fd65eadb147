import type { Reading } from './statement.ts'

/**
 * What has been granted, by grantee. The owner holds everything on its own objects and is left out,
 * unless a privilege was taken from it; an object of another owner than its schema's says so.
 */
export const readGrants: Reading = (tx, schemas) => tx`
  with object as (
    select n.nspname as schema, 'schema' as kind, '' as object, 'schema ' || n.oid::regnamespace as name, 'n'::"char" as type, n.nspowner as owner, n.nspacl as acl,
      n.oid as namespace, null::name as of_column, 0 as position
    from pg_namespace n
    union all
    select n.nspname, case c.relkind when 'v' then 'view' when 'm' then 'view' when 'S' then 'sequence' else 'table' end, c.relname,
      case c.relkind when 'S' then 'sequence ' else '' end || c.oid::regclass, case c.relkind when 'S' then 's' else 'r' end::"char", c.relowner, c.relacl, n.oid, null, 0
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where c.relkind in ('r', 'p', 'v', 'm', 'S')
      and not exists (select from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'i' and c.relkind = 'S')
    union all
    select n.nspname, case c.relkind when 'v' then 'view' when 'm' then 'view' else 'table' end, c.relname, c.oid::regclass::text, 'c', c.relowner, a.attacl, n.oid, a.attname, a.attnum
    from pg_attribute a join pg_class c on c.oid = a.attrelid join pg_namespace n on n.oid = c.relnamespace
    where a.attacl is not null and not a.attisdropped
    union all
    select n.nspname, 'type', t.typname, 'type ' || t.oid::regtype, 'T', t.typowner, t.typacl, n.oid, null, 0
    from pg_type t join pg_namespace n on n.oid = t.typnamespace
    where t.typtype in ('e', 'd', 'r') or t.typtype = 'c' and exists (select from pg_class c where c.oid = t.typrelid and c.relkind = 'c')
    union all
    select n.nspname, 'function', p.proname || '(' || pg_get_function_identity_arguments(p.oid) || ')',
      case p.prokind when 'p' then 'procedure ' else 'function ' end || p.oid::regprocedure, 'f', p.proowner, p.proacl, n.oid, null, 0
    from pg_proc p join pg_namespace n on n.oid = p.pronamespace
    where not exists (select from pg_depend d where d.classid = 'pg_proc'::regclass and d.objid = p.oid and d.deptype in ('e', 'i'))
  ), ours as (
    select object.*, n.nspowner as schema_owner from object join pg_namespace n on n.oid = object.namespace where n.nspname = any(${schemas})
  ), privilege as (
    select o.*, a.grantee, a.is_grantable, false as withdrawn, a.privilege_type
    from ours o cross join aclexplode(coalesce(o.acl, acldefault(o.type, o.owner))) a
    where a.grantee <> o.owner
    union all
    select o.*, a.grantee, false, true, a.privilege_type
    from ours o cross join aclexplode(acldefault(o.type, o.owner)) a
    where a.grantee = o.owner and o.type <> 'c' and not exists (
      select from aclexplode(coalesce(o.acl, acldefault(o.type, o.owner))) h where (h.grantee, h.privilege_type) = (a.grantee, a.privilege_type))
  ), given as (
    select schema, kind, object, name, grantee, grantee = owner as to_owner, withdrawn, is_grantable, privilege_type,
      lower(privilege_type) || ' (' || string_agg(quote_ident(of_column), ', ' order by position) filter (where of_column is not null) || ')' as of_columns
    from privilege
    group by schema, kind, object, name, grantee, owner, withdrawn, is_grantable, privilege_type, type
  ), spoken as (
    select schema, kind, object, name, withdrawn, is_grantable, of_columns is not null as by_column,
      case when grantee = 0 then 'public' when to_owner then 'owner' else grantee::regrole::text end as role,
      string_agg(coalesce(of_columns, lower(privilege_type)), ', ' order by array_position(
        array['SELECT', 'INSERT', 'UPDATE', 'DELETE', 'TRUNCATE', 'REFERENCES', 'TRIGGER', 'MAINTAIN', 'USAGE', 'CREATE', 'EXECUTE'], privilege_type)) as verbs
    from given
    group by 1, 2, 3, 4, 5, 6, 7, 8
  )
  select schema, kind, object, 'grant' as part, role || case when by_column then ' columns' else '' end || case when is_grantable then ' grantable' else '' end as name,
    case when withdrawn then format('revoke %s on %s from %s;', verbs, name, role)
    else format('grant %s on %s to %s%s;', verbs, name, role, case when is_grantable then ' with grant option' end) end as statement
  from spoken
  union all
  select schema, kind, object, 'setting', 'owner', format('-- owner: %s', owner::regrole) from ours where owner <> schema_owner and of_column is null`

export const readDefaultPrivileges: Reading = (tx, schemas) => tx`
  with rule as (
    select d.*, n.nspname, nullif(d.defaclrole, s.nspowner)::regrole as role,
      case d.defaclobjtype when 'r' then 'tables' when 'S' then 'sequences' when 'f' then 'functions' when 'T' then 'types' when 'n' then 'schemas' else 'large objects' end as objects,
      case when d.defaclnamespace = 0 then acldefault(case d.defaclobjtype when 'S' then 's' else d.defaclobjtype end, d.defaclrole) end as usual
    from pg_default_acl d
    left join pg_namespace n on n.oid = d.defaclnamespace
    left join lateral (select nspowner from pg_namespace where nspname = any(${schemas}) order by nspname limit 1) s on true
    where d.defaclnamespace = 0 or n.nspname = any(${schemas})
  ), changed as (
    select rule.*, 'grant' as verb, 'to' as preposition, a.grantee, a.privilege_type from rule cross join aclexplode(defaclacl) a
    where not exists (select from aclexplode(usual) u where (u.grantee, u.privilege_type) = (a.grantee, a.privilege_type))
    union all
    select rule.*, 'revoke', 'from', u.grantee, u.privilege_type from rule cross join aclexplode(usual) u
    where not exists (select from aclexplode(defaclacl) a where (a.grantee, a.privilege_type) = (u.grantee, u.privilege_type))
  ), spoken as (
    select role, nspname, objects, verb, preposition, case grantee when 0 then 'public' else coalesce(nullif(grantee, defaclrole)::regrole::text, 'owner') end as grantee,
      string_agg(lower(privilege_type), ', ' order by privilege_type) as verbs
    from changed group by 1, 2, 3, 4, 5, 6
  )
  select coalesce(nspname, '') as schema, case when nspname is null then 'role' else 'schema' end as kind, '' as object, 'default privilege' as part,
    concat_ws(' ', role, objects, verb, grantee) as name,
    concat_ws(' ', 'alter default privileges', 'for role ' || role, 'in schema ' || nspname, verb, verbs, 'on', objects, preposition, grantee) || ';' as statement
  from spoken`
