import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { commandOf } from './processes.ts'
import { StackError } from './stack_error.ts'
import { isTemporaryFolder, removeFolder } from './temporary_folder.ts'

/**
 * One start at a time on a data folder. A lock whose process is gone, or is no Lading, does not count: what that start left
 * behind when it was killed is cleared away.
 */
export async function lockDataFolder(dataDir: string, socketFolder: string): Promise<() => Promise<void>> {
  const file = join(dataDir, 'lading.pid')
  const [pid, leftFolder = ''] = (await readFile(file, 'utf8').catch(() => '')).split('\n')
  const holder = Number(pid)
  if (holder > 0 && holder !== process.pid && /stack\/start/.test(commandOf(holder) ?? '')) {
    throw new StackError(
      `Lading is already running on ${dataDir} (process ${holder}). ` +
        'Stop it, or set DATA_DIR and PORT to start another one beside it.',
    )
  }
  if (isTemporaryFolder(leftFolder)) await removeFolder(leftFolder)
  await writeFile(file, `${process.pid}\n${socketFolder}\n`)
  return () => rm(file, { force: true })
}
