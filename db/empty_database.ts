import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { embedded } from '../stack/embedded/driver.ts'
import { silentLog } from '../stack/log.ts'

/** A Postgres of its own with an empty database, gone when the work is done. */
export async function withEmptyDatabase<Result>(work: (ownerUrl: string) => Promise<Result>): Promise<Result> {
  const folder = await mkdtemp(join(tmpdir(), 'lading-schema-'))
  await chmod(folder, 0o711)
  try {
    const server = await embedded.startPostgres({
      dataFolder: join(folder, 'postgres'),
      isDurable: false,
      log: silentLog,
    })
    try {
      return await work(server.ownerUrl)
    } finally {
      await server.stop()
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
