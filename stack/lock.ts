import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { commandOf } from './processes.ts'
import { StackError } from './stack_error.ts'

/** One start at a time on a data folder. A lock whose process is gone, or is no Lading, does not count. */
export async function lockDataFolder(dataDir: string): Promise<() => Promise<void>> {
  const file = join(dataDir, 'lading.pid')
  const holder = Number(await readFile(file, 'utf8').catch(() => ''))
  if (holder > 0 && holder !== process.pid && /stack\/start/.test(commandOf(holder) ?? '')) {
    throw new StackError(
      `Lading is already running on ${dataDir} (process ${holder}). ` +
        'Stop it, or set DATA_DIR and PORT to start another one beside it.',
    )
  }
  await writeFile(file, `${process.pid}\n`)
  return () => rm(file, { force: true })
}
