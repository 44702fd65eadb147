import { join } from 'node:path'
import { ensureAuthenticator, type Sql, withDatabase } from '../../stack/database.ts'
import { embedded } from '../../stack/embedded/driver.ts'
import type { Log } from '../../stack/log.ts'
import { applyCurrent, inDatabase } from '../../stack/migrations.ts'
import { passableFolder, removeFolder } from '../../stack/temporary_folder.ts'
import { type Lading, startLading } from './lading.ts'
import type { Load, LoadResult } from './load.ts'
import { startLoadClient } from './load_client.ts'
import { type Plain, startPlain } from './plain.ts'
import type { Undo } from './undo.ts'

/** Rows to measure with. `seed` writes them into a migrated database and tells what the entries must know of them. */
export interface Dataset<Facts> {
  name: string
  seed(sql: Sql): Promise<Facts>
}

/** What entries measure on. Entries that name the same dataset share its databases. */
export interface Rig {
  maintenanceUrl: string
  lading<Facts>(dataset: Dataset<Facts>): Promise<Lading & { facts: Facts }>
  plain<Facts>(dataset: Dataset<Facts>): Promise<Plain & { facts: Facts }>
  load(load: Load): Promise<LoadResult>
}

interface Seeded<Facts> {
  facts: Facts
  /** A copy of the seeded database. */
  copy(name: string): Promise<string>
}

export async function startRig(log: Log, undo: Undo): Promise<Rig> {
  const folder = await passableFolder()
  undo.add(() => removeFolder(folder))
  const postgres = await embedded.startPostgres({
    dataFolder: join(folder, 'postgres'),
    isDurable: false,
    folderToDeleteWhenOrphaned: folder,
    log,
  })
  undo.add(() => postgres.stop())
  const loadClient = startLoadClient()
  undo.add(() => loadClient.stop())

  const maintenanceUrl = postgres.ownerUrl
  const createDatabase = async (name: string, template: string): Promise<string> => {
    await withDatabase(maintenanceUrl, (sql) => sql.unsafe(`create database ${name} template ${template}`))
    return inDatabase(maintenanceUrl, name)
  }
  await applyCurrent(await createDatabase('migrated', 'template1'), log)
  await ensureAuthenticator(inDatabase(maintenanceUrl, 'migrated'))

  const seeded = new Map<string, Promise<Seeded<unknown>>>()
  const ladings = new Map<string, Promise<Lading>>()
  const plains = new Map<string, Promise<Plain>>()

  const seed = async <Facts>(dataset: Dataset<Facts>): Promise<Seeded<Facts>> => {
    const url = await createDatabase(dataset.name, 'migrated')
    const facts = await withDatabase(url, async (sql) => {
      const known = await dataset.seed(sql)
      await sql`vacuum analyze`
      return known
    })
    return { facts, copy: (name) => createDatabase(`${dataset.name}_${name}`, dataset.name) }
  }
  const seedOnce = <Facts>(dataset: Dataset<Facts>): Promise<Seeded<Facts>> => {
    const known = seeded.get(dataset.name) ?? seed(dataset)
    seeded.set(dataset.name, known)
    return known as Promise<Seeded<Facts>>
  }

  return {
    maintenanceUrl,
    lading: async (dataset) => {
      const { facts, copy } = await seedOnce(dataset)
      const lading = ladings.get(dataset.name) ?? copy('lading').then((url) => startLading(url, log, undo))
      ladings.set(dataset.name, lading)
      return { ...(await lading), facts }
    },
    plain: async (dataset) => {
      const { facts, copy } = await seedOnce(dataset)
      const plain = plains.get(dataset.name) ?? copy('plain').then((url) => startPlain(url, log, undo))
      plains.set(dataset.name, plain)
      return { ...(await plain), facts }
    },
    load: (load) => loadClient.run(load),
  }
}
