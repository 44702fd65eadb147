import { useDatabase } from './database.ts'
import { describeRules } from './rule.ts'

/** Ids that no foreign key can hold: of rows of several tables, or of rows that may be gone while the record stays. */
const idsThatReferToNothing = [
  'api.inventory_adjustments.cause_id',
  'api.order_activities.fulfillment_id',
  'api.shipment_receipt_webhooks.shipment_receipt_id',
  'api.shipment_webhooks.shipment_id',
  'api.webhook_deliveries.event_id',
  'api.webhook_deliveries.object_id',
  'internal.commitments.cause_id',
  'internal.commitments.line_id',
  'internal.webhook_sequences.object_id',
]

const ours = `n.nspname in ('api', 'internal')`

describeRules('references', useDatabase(), [
  {
    title: 'every uuid column but id refers to a table, but those listed',
    violations: `
      select c.oid::regclass || '.' || a.attname
      from pg_class c
      join pg_namespace n on n.oid = c.relnamespace
      join pg_attribute a on a.attrelid = c.oid and a.atttypid = 'uuid'::regtype and a.attnum > 0 and not a.attisdropped
      where ${ours} and c.relkind in ('r', 'p') and a.attname <> 'id'
        and not exists (select from pg_constraint k where k.conrelid = c.oid and k.contype = 'f' and a.attnum = any(k.conkey))
        and c.oid::regclass || '.' || a.attname not in (${idsThatReferToNothing.map((name) => `'${name}'`).join(', ')})`,
    breach: 'create table api.loose (id uuid primary key, order_id uuid)',
  },
  {
    title: 'an index supports every reference to a table from which rows are deleted',
    violations: `
      select k.conrelid::regclass || ': ' || k.conname
      from pg_constraint k
      join pg_class c on c.oid = k.conrelid
      join pg_namespace n on n.oid = c.relnamespace
      where ${ours} and k.contype = 'f' and k.conparentid = 0
        and (has_table_privilege('business', k.confrelid, 'delete') or has_table_privilege('operator', k.confrelid, 'delete')
          or k.confrelid in (select oid from pg_class where relnamespace = 'internal'::regnamespace))
        and not exists (
          select from pg_index x
          where x.indrelid = k.conrelid and x.indisvalid
            and (x.indkey::int2[])[0:cardinality(k.conkey) - 1] <@ k.conkey and (x.indkey::int2[])[0:cardinality(k.conkey) - 1] @> k.conkey
            and (x.indpred is null or exists (
              select from pg_attribute a where a.attrelid = k.conrelid and a.attnum = any(k.conkey)
                and pg_get_expr(x.indpred, x.indrelid) = format('(%I IS NOT NULL)', a.attname))))`,
    breach: 'create table api.loose (id uuid primary key, business_id uuid references api.businesses)',
  },
  {
    title: 'no constraint is left unvalidated and no index invalid',
    violations: `
      select k.conrelid::regclass || ': ' || k.conname from pg_constraint k join pg_class c on c.oid = k.conrelid
      join pg_namespace n on n.oid = c.relnamespace where ${ours} and not k.convalidated
      union all
      select x.indexrelid::regclass::text from pg_index x join pg_class c on c.oid = x.indrelid
      join pg_namespace n on n.oid = c.relnamespace where ${ours} and not x.indisvalid`,
    breach: 'create table api.loose (id integer); alter table api.loose add constraint c check (id > 0) not valid',
  },
])
