import type { TransactionSql } from 'postgres'

const readable = [
  'pg_class',
  'pg_proc',
  'pg_type',
  'pg_constraint',
  'pg_attrdef',
  'pg_policy',
  'pg_trigger',
  'pg_rewrite',
  'pg_statistic_ext',
  'pg_default_acl',
  'pg_extension',
]

/** Names what lies in the schemas and this reading knows nothing of, so that nothing is left out in silence. */
export async function findUnread(tx: TransactionSql, schemas: readonly string[]): Promise<string[]> {
  const found = await tx<{ name: string }[]>`
    select distinct pg_describe_object(d.classid, d.objid, 0) as name
    from pg_depend d
    join pg_namespace n on d.refclassid = 'pg_namespace'::regclass and n.oid = d.refobjid and n.nspname = any(${schemas})
    left join pg_class c on d.classid = 'pg_class'::regclass and c.oid = d.objid
    left join pg_proc p on d.classid = 'pg_proc'::regclass and p.oid = d.objid
    where not exists (select from pg_depend m where (m.classid, m.objid) = (d.classid, d.objid) and m.deptype = 'e')
      and (c.relkind = 'f' or p.prokind = 'a' or d.classid <> all(${readable}::regclass[]))
    order by 1`
  return found.map(({ name }) => name)
}
