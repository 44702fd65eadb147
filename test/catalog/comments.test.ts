import { useDatabase } from './database.ts'
import { describeRules } from './rule.ts'

describeRules('comments', useDatabase(), [
  {
    title: 'every table and view of api has one',
    violations: `
      select c.oid::regclass::text from pg_class c
      where c.relnamespace = 'api'::regnamespace and c.relkind in ('r', 'p', 'v', 'm') and obj_description(c.oid, 'pg_class') is null`,
    breach: 'create table api.loose (id uuid)',
  },
  {
    title: 'every column of api has one',
    violations: `
      select c.oid::regclass || '.' || a.attname from pg_class c join pg_attribute a on a.attrelid = c.oid
      where c.relnamespace = 'api'::regnamespace and c.relkind in ('r', 'p', 'v', 'm') and a.attnum > 0 and not a.attisdropped
        and col_description(c.oid, a.attnum) is null`,
    breach: 'create table api.loose (id uuid)',
  },
  {
    title: 'every function of api has one',
    violations: `
      select p.oid::regprocedure::text from pg_proc p
      where p.pronamespace = 'api'::regnamespace and obj_description(p.oid, 'pg_proc') is null`,
    breach: `create function api.loose() returns int language sql as 'select 1'`,
  },
  {
    title: 'every type of api has one',
    violations: `
      select t.oid::regtype::text from pg_type t left join pg_class c on c.oid = t.typrelid
      where t.typnamespace = 'api'::regnamespace and (t.typtype in ('e', 'd') or c.relkind = 'c') and obj_description(t.oid, 'pg_type') is null`,
    breach: `create type api.loose as enum ('a')`,
  },
  {
    title: 'every table and function of internal has one',
    violations: `
      select c.oid::regclass::text from pg_class c
      where c.relnamespace = 'internal'::regnamespace and c.relkind in ('r', 'p', 'v', 'm') and obj_description(c.oid, 'pg_class') is null
      union all
      select p.oid::regprocedure::text from pg_proc p
      where p.pronamespace = 'internal'::regnamespace and obj_description(p.oid, 'pg_proc') is null
        and not exists (select from pg_depend d where d.classid = 'pg_proc'::regclass and d.objid = p.oid and d.deptype = 'e')`,
    breach: 'create table internal.loose (id uuid)',
  },
])
