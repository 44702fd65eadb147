import { join } from 'node:path'
import { embedded } from '../stack/embedded/driver.ts'
import { silentLog } from '../stack/log.ts'
import { passableFolder, removeFolder } from '../stack/temporary_folder.ts'

/** A Postgres of its own with an empty database, gone when the work is done. */
export async function withEmptyDatabase<Result>(work: (ownerUrl: string) => Promise<Result>): Promise<Result> {
  const folder = await passableFolder()
  try {
    const server = await embedded.startPostgres({
      dataFolder: join(folder, 'postgres'),
      isDurable: false,
      folderToDeleteWhenOrphaned: folder,
      log: silentLog,
    })
    try {
      return await work(server.ownerUrl)
    } finally {
      await server.stop()
    }
  } finally {
    await removeFolder(folder)
  }
}
