import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

const prefix = (): string => join(tmpdir(), 'lading-')

export const isTemporaryFolder = (path: string): boolean => path.startsWith(prefix()) && dirname(path) === tmpdir()

export const removeFolder = (folder: string): Promise<void> =>
  rm(folder, { recursive: true, force: true, maxRetries: 3 })

/** Only we may look inside. The path is short: a unix socket's may have 107 bytes. */
export const privateFolder = (): Promise<string> => mkdtemp(prefix())

/** Others may pass through to a folder inside whose path they know: Postgres may run as another user. */
export async function passableFolder(): Promise<string> {
  const folder = await privateFolder()
  await chmod(folder, 0o711)
  return folder
}
