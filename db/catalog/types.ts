import type { Reading } from './statement.ts'

export const readEnums: Reading = (tx, schemas) => tx`
  select n.nspname as schema, 'type' as kind, t.typname as object, 'definition' as part, '' as name,
    format('create type %s as enum (%s);', t.oid::regtype,
      string_agg(quote_literal(e.enumlabel), ', ' order by e.enumsortorder)) as statement
  from pg_type t
  join pg_namespace n on n.oid = t.typnamespace
  left join pg_enum e on e.enumtypid = t.oid
  where t.typtype = 'e' and n.nspname = any(${schemas})
  group by n.nspname, t.oid`

export const readComposites: Reading = (tx, schemas) => tx`
  select n.nspname as schema, 'type' as kind, c.relname as object, 'definition' as part, '' as name,
    format(E'create type %s as (\n%s\n);', c.reltype::regtype,
      string_agg(format('  %I %s', a.attname, format_type(a.atttypid, a.atttypmod)), E',\n' order by a.attnum)) as statement
  from pg_class c
  join pg_namespace n on n.oid = c.relnamespace
  left join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
  where c.relkind = 'c' and n.nspname = any(${schemas})
  group by n.nspname, c.oid`

export const readDomains: Reading = (tx, schemas) => tx`
  select n.nspname as schema, 'type' as kind, t.typname as object, 'definition' as part, '' as name,
    concat('create domain ', t.oid::regtype, ' as ', format_type(t.typbasetype, t.typtypmod),
      ' collate ' || nullif(t.typcollation, b.typcollation)::regcollation,
      ' default ' || t.typdefault, case when t.typnotnull then ' not null' end,
      (select string_agg(format(E'\n  constraint %I %s', k.conname, pg_get_constraintdef(k.oid, true)), '' order by k.conname collate "C")
        from pg_constraint k where k.contypid = t.oid and k.contype = 'c'), ';') as statement
  from pg_type t
  join pg_type b on b.oid = t.typbasetype
  join pg_namespace n on n.oid = t.typnamespace
  where t.typtype = 'd' and n.nspname = any(${schemas})`

export const readRanges: Reading = (tx, schemas) => tx`
  select n.nspname as schema, 'type' as kind, t.typname as object, 'definition' as part, '' as name,
    concat('create type ', t.oid::regtype, ' as range (subtype = ', format_type(r.rngsubtype, null),
      ', collation = ' || nullif(r.rngcollation, 0)::regcollation, ', multirange_type_name = ', r.rngmultitypid::regtype, ');') as statement
  from pg_range r
  join pg_type t on t.oid = r.rngtypid
  join pg_namespace n on n.oid = t.typnamespace
  where n.nspname = any(${schemas})`

/** Identity columns show in their table; these are the sequences that stand alone or serve a default. */
export const readSequences: Reading = (tx, schemas) => tx`
  select n.nspname as schema, 'sequence' as kind, c.relname as object, 'definition' as part, '' as name,
    concat(format('create sequence %s as %s increment %s minvalue %s maxvalue %s start %s cache %s', c.oid::regclass,
      format_type(s.seqtypid, null), s.seqincrement, s.seqmin, s.seqmax, s.seqstart, s.seqcache), case when s.seqcycle then ' cycle' end,
      (select format(' owned by %s.%I', a.attrelid::regclass, a.attname) from pg_depend d
        join pg_attribute a on (a.attrelid, a.attnum) = (d.refobjid, d.refobjsubid)
        where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.refclassid = 'pg_class'::regclass and d.deptype = 'a'), ';') as statement
  from pg_sequence s
  join pg_class c on c.oid = s.seqrelid
  join pg_namespace n on n.oid = c.relnamespace
  where n.nspname = any(${schemas})
    and not exists (select from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'i')`
