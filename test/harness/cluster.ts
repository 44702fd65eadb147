import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { ensureAuthenticator, withDatabase } from '../../stack/database.ts'
import { embedded } from '../../stack/embedded/driver.ts'
import { makeLog } from '../../stack/log.ts'
import { applyCurrent, inDatabase } from '../../stack/migrations.ts'
import { passableFolder, removeFolder } from '../../stack/temporary_folder.ts'

export interface TestCluster {
  /** The owner's address of the migrated template database. Nobody may stay connected to it. */
  templateUrl: string
}

declare module 'vitest' {
  export interface ProvidedContext {
    cluster: TestCluster
  }
}

/** One Postgres for the whole run, with a migrated database that each test file clones. */
export default async function startCluster(project: TestProject): Promise<() => Promise<void>> {
  const log = makeLog(process.env.TEST_LOG_LEVEL ?? 'error', 'test')
  const folder = await passableFolder()
  const postgres = await embedded.startPostgres({
    dataFolder: join(folder, 'postgres'),
    isDurable: false,
    folderToDeleteWhenOrphaned: folder,
    log,
  })
  const stop = async () => {
    await postgres.stop()
    await removeFolder(folder)
  }
  try {
    const templateUrl = inDatabase(postgres.ownerUrl, 'template_lading')
    await withDatabase(postgres.ownerUrl, (sql) => sql`create database template_lading`)
    await applyCurrent(templateUrl, log)
    await ensureAuthenticator(templateUrl)
    project.provide('cluster', { templateUrl })
    return stop
  } catch (error) {
    await stop()
    throw error
  }
}
