import { join } from 'node:path'
import { postgrestBinary } from '../../stack/embedded/postgrest_binary.ts'
import type { Log } from '../../stack/log.ts'
import { freePort } from '../../stack/ports.ts'
import { hasSchemaCache } from '../../stack/postgrest_ready.ts'
import { supervise } from '../../stack/supervise.ts'
import { privateFolder, removeFolder } from '../../stack/temporary_folder.ts'
import type { Undo } from './undo.ts'

/** A further PostgREST, with settings of the bench's own, on a socket like Lading's or on a port. Returns its address. */
export async function startBenchPostgrest(
  settings: NodeJS.ProcessEnv,
  transport: 'socket' | 'port',
  log: Log,
  undo: Undo,
): Promise<string> {
  const socketFolder = await privateFolder()
  undo.add(() => removeFolder(socketFolder))
  const socket = join(socketFolder, 'postgrest')
  const port = String(await freePort())
  const upstream = transport === 'socket' ? `unix:${socket}` : `http://127.0.0.1:${port}`
  const listening =
    transport === 'socket'
      ? { PGRST_SERVER_UNIX_SOCKET: socket }
      : { PGRST_SERVER_HOST: '127.0.0.1', PGRST_SERVER_PORT: port }
  const postgrest = await supervise(
    {
      name: 'bench postgrest',
      command: postgrestBinary(undefined),
      arguments: [],
      environment: { PATH: process.env.PATH, ...settings, ...listening },
      stopSignal: 'SIGTERM',
      stopMilliseconds: 1_000,
      orphan: 'guard',
      folderToDeleteWhenOrphaned: socketFolder,
      readyMilliseconds: 30_000,
      isReady: () => hasSchemaCache(upstream),
    },
    log,
  )
  undo.add(() => postgrest.stop())
  return upstream
}
