import { join } from 'node:path'
import type { Log } from './log.ts'
import type { Settings } from './settings.ts'
import { type Supervised, supervise } from './supervise.ts'

const root = join(import.meta.dirname, '..')

const inherited = (): NodeJS.ProcessEnv => ({
  PATH: process.env.PATH,
  NODE_OPTIONS: process.env.NODE_OPTIONS,
  TZ: 'UTC',
})

const probeHost = (host: string): string =>
  host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host

const answersReady = (host: string, port: number): Promise<boolean> =>
  fetch(`http://${probeHost(host)}:${port}/ready`, { signal: AbortSignal.timeout(3_000) }).then(
    (response) => response.body?.cancel().then(() => response.ok) ?? response.ok,
    () => false,
  )

export const startSidecarProgram = (
  settings: Settings,
  connection: { port: number; publicUrl: string; authenticatorUrl: string; upstream: string },
  log: Log,
): Promise<Supervised> =>
  supervise(
    {
      name: 'sidecar',
      command: process.execPath,
      arguments: [join(root, 'sidecar/server.ts')],
      environment: {
        ...inherited(),
        PORT: String(connection.port),
        HOST: settings.HOST,
        PUBLIC_URL: connection.publicUrl,
        DATABASE_URL: connection.authenticatorUrl,
        POSTGREST_UPSTREAM: connection.upstream,
        LOG_LEVEL: settings.LOG_LEVEL,
      },
      stopSignal: 'SIGTERM',
      stopMilliseconds: 2_500,
      orphan: 'channel',
      readyMilliseconds: 30_000,
      isReady: async (_pid, hasReported) => hasReported && (await answersReady(settings.HOST, connection.port)),
    },
    log,
  )

export const startWorkerProgram = (settings: Settings, ownerUrl: string, log: Log): Promise<Supervised> =>
  supervise(
    {
      name: 'worker',
      command: process.execPath,
      arguments: [join(root, 'worker/main.ts')],
      environment: {
        ...inherited(),
        DATABASE_URL: ownerUrl,
        WEBHOOK_FIRE_SECONDS: String(settings.WEBHOOK_FIRE_SECONDS),
        DELIVERY_RETENTION_DAYS: String(settings.DELIVERY_RETENTION_DAYS),
        ALLOW_PRIVATE_ADDRESSES: settings.ALLOW_PRIVATE_ADDRESSES ? 'on' : 'off',
        LOG_LEVEL: settings.LOG_LEVEL,
      },
      stopSignal: 'SIGTERM',
      stopMilliseconds: 2_500,
      orphan: 'channel',
      readyMilliseconds: 30_000,
      isReady: (_pid, hasReported) => Promise.resolve(hasReported),
    },
    log,
  )
