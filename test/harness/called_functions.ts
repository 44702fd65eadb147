import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { type Sql, withDatabase } from '../../stack/database.ts'
import { databaseOf } from '../../stack/migrations.ts'

const others = (sql: Sql) => sql`
  select from pg_stat_activity
  where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()`

/**
 * Which functions were called in a test database, written down before it goes: a connection tells what it called when it
 * ends. A call that ends with an error is listed too, although Postgres does not count it.
 */
export async function noteCalledFunctions(ownerUrl: string, folder: string): Promise<void> {
  const called = await withDatabase(ownerUrl, async (sql) => {
    for (let wait = 0; wait < 20 && (await others(sql)).length > 0; wait++) await setTimeout(25)
    return sql<{ name: string }[]>`select schemaname || '.' || funcname as name from pg_stat_user_functions`
  })
  await writeFile(join(folder, databaseOf(ownerUrl)), called.map(({ name }) => name).join('\n'))
}

async function readCalledFunctions(folder: string): Promise<Set<string>> {
  const notes = await Promise.all((await readdir(folder)).map((file) => readFile(join(folder, file), 'utf8')))
  return new Set(notes.flatMap((note) => note.split('\n')))
}

/** Functions of api and internal that no test called; one that Postgres may merge into its caller is not counted. */
export async function findUncalledFunctions(templateUrl: string, folder: string): Promise<string[]> {
  const called = await readCalledFunctions(folder)
  const functions = await withDatabase(
    templateUrl,
    (sql) => sql<{ name: string }[]>`
      select n.nspname || '.' || p.proname as name
      from pg_proc p
      join pg_namespace n on n.oid = p.pronamespace
      join pg_language l on l.oid = p.prolang
      where n.nspname in ('api', 'internal') and p.prokind = 'f'
        and (l.lanname = 'plpgsql' or p.prosecdef or p.proconfig is not null)
        and not exists (select from pg_depend d where d.classid = 'pg_proc'::regclass and d.objid = p.oid and d.deptype = 'e')
      order by 1`,
  )
  return functions.map(({ name }) => name).filter((name) => !called.has(name))
}
