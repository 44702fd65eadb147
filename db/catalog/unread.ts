import type { TransactionSql } from 'postgres'

/** Names what lies in the schemas and this reading knows nothing of, so that nothing is left out in silence. */
export async function findUnread(tx: TransactionSql, schemas: readonly string[]): Promise<string[]> {
  const found = await tx<{ name: string }[]>`
    select distinct pg_describe_object(d.classid, d.objid, 0) as name
    from pg_depend d
    join pg_namespace n on d.refclassid = 'pg_namespace'::regclass and n.oid = d.refobjid and n.nspname = any(${schemas})
    left join pg_class c on d.classid = 'pg_class'::regclass and c.oid = d.objid
    left join pg_proc p on d.classid = 'pg_proc'::regclass and p.oid = d.objid
    where c.relkind = 'f' or p.prokind = 'a'
      or d.classid not in ('pg_class'::regclass, 'pg_proc'::regclass, 'pg_type'::regclass, 'pg_default_acl'::regclass,
        'pg_statistic_ext'::regclass, 'pg_extension'::regclass, 'pg_constraint'::regclass)
    order by 1`
  return found.map(({ name }) => name)
}
