import type { Reading } from './statement.ts'

/** The roles that something is granted to, and their members; passwords are never read. */
export const readRoles: Reading = (tx, schemas) => tx`
  with recursive granted as (
    select a.grantee as oid from pg_namespace n cross join aclexplode(n.nspacl) a
    where n.nspname = any(${schemas}) and a.grantee not in (0, n.nspowner)
    union
    select a.grantee from pg_class c join pg_namespace n on n.oid = c.relnamespace cross join aclexplode(c.relacl) a
    where n.nspname = any(${schemas}) and a.grantee not in (0, c.relowner)
    union
    select a.grantee from pg_proc p join pg_namespace n on n.oid = p.pronamespace cross join aclexplode(p.proacl) a
    where n.nspname = any(${schemas}) and a.grantee not in (0, p.proowner)
  ), ours as (
    select oid from granted
    union
    select m.member from ours join pg_auth_members m on m.roleid = ours.oid
    where m.member not in (select nspowner from pg_namespace where nspname = any(${schemas}))
  )
  select '' as schema, 'role' as kind, r.rolname as object, 'definition' as part, '' as name,
    concat_ws(' ', 'create role', quote_ident(r.rolname), case when r.rolcanlogin then 'login' else 'nologin' end,
      case when not r.rolinherit then 'noinherit' end, case when r.rolsuper then 'superuser' end, case when r.rolbypassrls then 'bypassrls' end,
      case when r.rolcreaterole then 'createrole' end, case when r.rolcreatedb then 'createdb' end, case when r.rolreplication then 'replication' end,
      'connection limit ' || nullif(r.rolconnlimit, -1)) || ';' as statement
  from pg_roles r where r.oid in (select oid from ours)
  union all
  select '', 'role', r.rolname, 'setting', setting, format('alter role %I set %s;', r.rolname, setting)
  from pg_db_role_setting s join pg_roles r on r.oid = s.setrole cross join unnest(s.setconfig) as setting
  where s.setdatabase = 0 and r.oid in (select oid from ours)
  union all
  select '', 'role', m.member::regrole::text, 'grant', m.roleid::regrole::text,
    concat(format('grant %s to %s', m.roleid::regrole, m.member::regrole),
      ' with ' || nullif(concat_ws(', ', case when m.admin_option then 'admin option' end,
        case when m.inherit_option <> r.rolinherit then 'inherit ' || m.inherit_option end, case when not m.set_option then 'set false' end), ''), ';')
  from pg_auth_members m join pg_roles r on r.oid = m.member
  where m.member in (select oid from ours) and m.roleid in (select oid from ours)`
