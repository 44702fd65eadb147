import { join } from 'node:path'
import type { Log } from './log.ts'
import type { Settings } from './settings.ts'
import { type Supervised, supervise } from './supervise.ts'

const root = join(import.meta.dirname, '..')

// Young objects get little room: nearly all die with their request, and a large nursery only costs memory.
const smallHeap = ['--max-semi-space-size=4']

/** The compile cache saves a program a third of its start and a fifth of its memory. */
const always = (settings: Settings): NodeJS.ProcessEnv => ({
  PATH: process.env.PATH,
  NODE_OPTIONS: process.env.NODE_OPTIONS,
  NODE_COMPILE_CACHE: join(settings.DATA_DIR, 'cache'),
  TZ: 'UTC',
  LOG_LEVEL: settings.LOG_LEVEL,
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
      arguments: [...smallHeap, join(root, 'sidecar/server.ts')],
      environment: {
        ...always(settings),
        PORT: String(connection.port),
        HOST: settings.HOST,
        PUBLIC_URL: connection.publicUrl,
        DATABASE_URL: connection.authenticatorUrl,
        POSTGREST_UPSTREAM: connection.upstream,
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
      arguments: [...smallHeap, join(root, 'worker/main.ts')],
      environment: {
        ...always(settings),
        DATABASE_URL: ownerUrl,
        WEBHOOK_FIRE_SECONDS: String(settings.WEBHOOK_FIRE_SECONDS),
        DELIVERY_RETENTION_DAYS: String(settings.DELIVERY_RETENTION_DAYS),
        ALLOW_PRIVATE_ADDRESSES: settings.ALLOW_PRIVATE_ADDRESSES ? 'on' : 'off',
      },
      stopSignal: 'SIGTERM',
      stopMilliseconds: 2_500,
      orphan: 'channel',
      readyMilliseconds: 30_000,
      isReady: (_pid, hasReported) => Promise.resolve(hasReported),
    },
    log,
  )
