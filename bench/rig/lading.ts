import { authenticatorUrl, ensureAuthenticator, setDeployment } from '../../stack/database.ts'
import { embedded } from '../../stack/embedded/driver.ts'
import type { Log } from '../../stack/log.ts'
import { freePort } from '../../stack/ports.ts'
import { postgrestSettings } from '../../stack/postgrest_settings.ts'
import { startSidecarProgram } from '../../stack/programs.ts'
import { readSettings } from '../../stack/settings.ts'
import { privateFolder, removeFolder } from '../../stack/temporary_folder.ts'
import { startBenchPostgrest } from './bench_postgrest.ts'
import type { Undo } from './undo.ts'

/** Lading as `npm start` runs it, on a database of the bench. */
export interface Lading {
  ownerUrl: string
  authenticatorUrl: string
  /** PostgREST without the gateway. */
  upstream: string
  /** Another PostgREST like it that listens on a port, as a client elsewhere would reach it. */
  upstreamOnPort(): Promise<string>
  /** The local gateway; paths below it begin with /rest/v1. */
  gateway: string
}

export async function startLading(ownerUrl: string, log: Log, undo: Undo): Promise<Lading> {
  await ensureAuthenticator(ownerUrl)
  const port = await freePort()
  const publicUrl = `http://127.0.0.1:${port}`
  await setDeployment(ownerUrl, { publicUrl, allowPrivateAddresses: true })
  const socketFolder = await privateFolder()
  undo.add(() => removeFolder(socketFolder))
  const postgrest = await embedded.startPostgrest({
    authenticatorUrl: authenticatorUrl(ownerUrl),
    publicUrl,
    socketFolder,
    logLevel: 'error',
    log,
  })
  undo.add(() => postgrest.stop())
  const sidecar = await startSidecarProgram(
    readSettings({ LOG_LEVEL: 'error' }),
    { port, publicUrl, authenticatorUrl: authenticatorUrl(ownerUrl), upstream: postgrest.upstream },
    log,
  )
  undo.add(() => sidecar.stop())
  return {
    ownerUrl,
    authenticatorUrl: authenticatorUrl(ownerUrl),
    upstream: postgrest.upstream,
    upstreamOnPort: () =>
      startBenchPostgrest(
        postgrestSettings({ authenticatorUrl: authenticatorUrl(ownerUrl), publicUrl, logLevel: 'error' }),
        'port',
        log,
        undo,
      ),
    gateway: publicUrl,
  }
}
