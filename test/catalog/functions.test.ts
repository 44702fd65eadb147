import { useDatabase } from './database.ts'
import { describeRules } from './rule.ts'

const functions = `
  select p.*, p.oid::regprocedure::text as name, n.nspname as schema
  from pg_proc p
  join pg_namespace n on n.oid = p.pronamespace
  where n.nspname in ('api', 'internal')
    and not exists (select from pg_depend d where d.classid = 'pg_proc'::regclass and d.objid = p.oid and d.deptype in ('e', 'i'))`

describeRules('functions', useDatabase(), [
  {
    title: "every security definer has search_path = ''",
    violations: `select name from (${functions}) f where prosecdef and not coalesce(proconfig, '{}') @> array['search_path=""']`,
    breach: `create function api.loose() returns int language sql security definer set search_path = 'api' as 'select 1'`,
  },
  {
    title: "every PL/pgSQL function has search_path = ''",
    violations: `
      select name from (${functions}) f join pg_language l on l.oid = f.prolang
      where l.lanname = 'plpgsql' and not coalesce(proconfig, '{}') @> array['search_path=""']`,
    breach: `create function internal.loose() returns int language plpgsql as 'begin return 1; end'`,
  },
  {
    title: 'none may be executed by public',
    violations: `select name from (${functions}) f where has_function_privilege('public', oid, 'execute')`,
    breach: `create function api.loose() returns int language sql as 'select 1'; grant execute on function api.loose to public`,
  },
  {
    title: 'a new one is private: default privileges are revoked',
    violations: `
      select 'execute for public' where not exists (
        select from pg_default_acl
        where defaclnamespace = 0 and defaclobjtype = 'f' and defaclrole = (select nspowner from pg_namespace where nspname = 'api')
          and not exists (select from aclexplode(defaclacl) where grantee = 0))
      union all
      select 'defaults that grant' from pg_default_acl d join pg_namespace n on n.oid = d.defaclnamespace
      where n.nspname in ('api', 'internal') and d.defaclacl <> '{}'`,
    breach: 'alter default privileges grant execute on functions to public',
  },
  {
    title: 'none is overloaded',
    violations: `select schema || '.' || proname from (${functions}) f group by schema, proname having count(*) > 1`,
    breach: `create function internal.loose() returns int language sql as 'select 1'; create function internal.loose(a int) returns int language sql as 'select 1'`,
  },
  {
    title: 'all belong to the owner of the schema',
    violations: `
      select name from (${functions}) f where proowner <> (select nspowner from pg_namespace where nspname = f.schema)`,
    breach: `create role loose; grant loose to current_user; grant create on schema api to loose;
      create function api.loose() returns int language sql as 'select 1'; alter function api.loose owner to loose`,
  },
  {
    title: 'every trigger function is attached to a table',
    violations: `
      select name from (${functions}) f
      where prorettype = 'trigger'::regtype and not exists (select from pg_trigger t where t.tgfoid = f.oid)`,
    breach: `create function internal.loose() returns trigger language plpgsql as 'begin return new; end'`,
  },
])
