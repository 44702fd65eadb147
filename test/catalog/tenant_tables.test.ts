import { useDatabase } from './database.ts'
import { describeRules } from './rule.ts'

/** Its keys of operators belong to no business. */
const withoutBusinessInSomeRows = ['internal.api_keys']

const tenantTables = `
  select c.oid, c.oid::regclass::text as name, n.nspname as schema, c.relrowsecurity, c.relforcerowsecurity, c.relreplident, a.attnum as business_id, a.attnotnull
  from pg_class c
  join pg_namespace n on n.oid = c.relnamespace and n.nspname in ('api', 'internal')
  join pg_attribute a on a.attrelid = c.oid and a.attname = 'business_id' and not a.attisdropped
  where c.relkind in ('r', 'p')`

const whole = `
  select t.* from (${tenantTables}) t where t.name not in (${withoutBusinessInSomeRows.map((name) => `'${name}'`).join(', ')})`

const loose = 'create table api.loose (id uuid primary key, business_id uuid)'

describeRules('tenant tables', useDatabase(), [
  {
    title: 'row-level security is enabled and forced on every one, and on businesses',
    violations: `
      select name from (${tenantTables}) t where not (relrowsecurity and relforcerowsecurity)
      union all
      select 'api.businesses' from pg_class where oid = 'api.businesses'::regclass and not (relrowsecurity and relforcerowsecurity)`,
    breach: `${loose}; alter table api.loose enable row level security`,
  },
  {
    title: 'a policy for business compares business_id with that of the caller, in reading and in writing',
    violations: `
      select t.name from (${tenantTables}) t
      where has_any_column_privilege('business', t.oid, 'select, insert, update')
        and not exists (select from pg_policy p where p.polrelid = t.oid and 'business'::regrole = any(p.polroles))
      union all
      select t.name || ': ' || p.polname from (${tenantTables}) t join pg_policy p on p.polrelid = t.oid
      where (0 = any(p.polroles) or 'business'::regrole = any(p.polroles) or 'warehouse'::regrole = any(p.polroles) or 'anon'::regrole = any(p.polroles))
        and p.polpermissive
        and not (coalesce(pg_get_expr(p.polqual, p.polrelid), '(business_id = ( SELECT internal.business_id() AS business_id))') like '%(business_id = ( SELECT internal.business_id() AS business_id))%'
          and coalesce(pg_get_expr(p.polwithcheck, p.polrelid), '(business_id = ( SELECT internal.business_id() AS business_id))') like '%(business_id = ( SELECT internal.business_id() AS business_id))%')`,
    breach: `${loose}; create policy all_rows on api.loose to business using (true)`,
  },
  {
    title: 'business_id is never null, but where listed',
    violations: `select name from (${whole}) t where not attnotnull`,
    breach: loose,
  },
  {
    title: 'a table in api has unique (business_id, id), and it is its replica identity',
    violations: `
      select t.name from (${tenantTables}) t
      where t.schema = 'api' and not exists (
        select from pg_index x
        where x.indrelid = t.oid and x.indisunique and x.indisreplident and x.indpred is null
          and x.indkey::text = (select t.business_id || ' ' || a.attnum from pg_attribute a where a.attrelid = t.oid and a.attname = 'id'))`,
    breach: `${loose}; alter table api.loose alter business_id set not null, add constraint k unique (business_id, id)`,
  },
  {
    title: 'a table in internal has a replica identity that holds business_id',
    violations: `
      select t.name from (${whole}) t
      where t.schema = 'internal' and not exists (
        select from pg_index x where x.indrelid = t.oid and t.business_id = any(x.indkey::int2[])
          and (x.indisreplident or t.relreplident = 'd' and x.indisprimary))`,
    breach: 'create table internal.loose (id uuid primary key, business_id uuid not null)',
  },
  {
    title: 'every reference to another tenant table is composite, with business_id on both sides',
    violations: `
      select t.name || ': ' || k.conname
      from pg_constraint k
      join (${tenantTables}) t on t.oid = k.conrelid
      join (${tenantTables}) r on r.oid = k.confrelid
      where k.contype = 'f' and array_position(k.conkey, t.business_id) is distinct from array_position(k.confkey, r.business_id)
        or k.contype = 'f' and array_position(k.conkey, t.business_id) is null
      union all
      select k.conrelid::regclass || ': ' || k.conname || ' (from a table without business_id)'
      from pg_constraint k
      join (${tenantTables}) r on r.oid = k.confrelid
      where k.contype = 'f' and k.conrelid not in (select oid from (${tenantTables}) t)`,
    breach: `${loose}; alter table api.loose add other uuid references api.loose`,
  },
  {
    title: 'business_id refers to businesses, directly or by a composite key',
    violations: `
      select t.name from (${tenantTables}) t
      where not exists (select from pg_constraint k where k.contype = 'f' and k.conrelid = t.oid and t.business_id = any(k.conkey)
        and (k.confrelid = 'api.businesses'::regclass or k.confrelid in (select oid from (${tenantTables}) r)))`,
    breach: loose,
  },
  {
    title: 'at least one index leads with business_id',
    violations: `
      select t.name from (${tenantTables}) t
      where not exists (select from pg_index x where x.indrelid = t.oid and x.indkey[0] = t.business_id and x.indpred is null)`,
    breach: loose,
  },
  {
    title: 'update_time, where there is one, is kept by a trigger',
    violations: `
      select t.name from (${tenantTables}) t
      join pg_attribute a on a.attrelid = t.oid and a.attname = 'update_time'
      where has_any_column_privilege('business', t.oid, 'update') and not exists (
        select from pg_trigger g where g.tgrelid = t.oid and g.tgfoid = 'internal.keep_update_time'::regproc)`,
    breach: `${loose}; alter table api.loose add update_time timestamptz; grant update on api.loose to business`,
  },
])
