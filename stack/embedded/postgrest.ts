import { join } from 'node:path'
import type { PostgrestOptions, RunningPostgrest } from '../driver.ts'
import { hasSchemaCache } from '../postgrest_ready.ts'
import { postgrestSettings } from '../postgrest_settings.ts'
import { StackError } from '../stack_error.ts'
import { supervise } from '../supervise.ts'
import { postgrestBinary } from './postgrest_binary.ts'

const LONGEST_SOCKET_PATH = 107

export async function startPostgrest(options: PostgrestOptions): Promise<RunningPostgrest> {
  const socket = join(options.socketFolder, 'postgrest')
  if (Buffer.byteLength(socket) > LONGEST_SOCKET_PATH) {
    throw new StackError(`The path of PostgREST's socket is too long (${socket}). Set TMPDIR to a shorter path.`)
  }
  const upstream = `unix:${socket}`
  const postgrest = await supervise(
    {
      name: 'postgrest',
      command: postgrestBinary(options.binary),
      arguments: [],
      environment: {
        PATH: process.env.PATH,
        ...postgrestSettings(options),
        PGRST_SERVER_UNIX_SOCKET: socket,
        PGRST_SERVER_UNIX_SOCKET_MODE: '600',
      },
      stopSignal: 'SIGTERM',
      stopMilliseconds: 1_000,
      orphan: 'guard',
      folderToDeleteWhenOrphaned: options.socketFolder,
      readyMilliseconds: 30_000,
      isReady: () => hasSchemaCache(upstream),
    },
    options.log,
  )
  return { upstream, stop: () => postgrest.stop() }
}
