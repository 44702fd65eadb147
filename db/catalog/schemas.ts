import type { Reading } from './statement.ts'

export const readSchemas: Reading = (tx, schemas) => tx`
  select n.nspname as schema, 'schema' as kind, '' as object, 'definition' as part, '' as name,
    format('create schema %s;', n.oid::regnamespace) as statement
  from pg_namespace n
  where n.nspname = any(${schemas})`

export const readExtensions: Reading = (tx) => tx`
  select '' as schema, 'extension' as kind, e.extname as object, 'definition' as part, '' as name,
    format('create extension %I schema %s;', e.extname, e.extnamespace::regnamespace) as statement
  from pg_extension e
  where e.extname <> 'plpgsql'`
