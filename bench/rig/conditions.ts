import { execFileSync } from 'node:child_process'
import { availableParallelism, cpus, loadavg, totalmem } from 'node:os'
import { withDatabase } from '../../stack/database.ts'
import { postgrestBinary } from '../../stack/embedded/postgrest_binary.ts'

const GIGABYTE = 1024 ** 3

export type Conditions = Record<string, string | number>

export const loadText = (): string => {
  const [minute = 0, ...earlier] = loadavg()
  const text = [minute, ...earlier].map((load) => load.toFixed(1)).join(' ')
  return minute > availableParallelism() / 2 ? `${text} (other work was running: the ratios are unreliable)` : text
}

/** Under what the figures were measured: they are worth nothing without it. */
export async function readConditions(databaseUrl: string, loadBefore: string): Promise<Conditions> {
  const [settings] = await withDatabase(
    databaseUrl,
    (sql) => sql<{ version: string; fsync: string; commit: string; buffers: string }[]>`
      select split_part(version(), ' ', 2) as version, current_setting('fsync') as fsync,
        current_setting('synchronous_commit') as commit, current_setting('shared_buffers') as buffers`,
  )
  return {
    cores: `${availableParallelism()} (${cpus()[0]?.model ?? 'unknown'}), shared by client, servers and database`,
    memory: `${Math.round(totalmem() / GIGABYTE)} GB`,
    'load before': loadBefore,
    Node: process.versions.node,
    PostgreSQL: settings?.version ?? 'unknown',
    PostgREST: execFileSync(postgrestBinary(undefined), ['--version'], { encoding: 'utf8' }).trim(),
    fsync: settings?.fsync ?? 'unknown',
    synchronous_commit: settings?.commit ?? 'unknown',
    shared_buffers: settings?.buffers ?? 'unknown',
  }
}
