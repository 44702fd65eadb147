import { randomBytes } from 'node:crypto'
import { dirname } from 'node:path'
import type { PostgresOptions, RunningPostgres } from '../driver.ts'
import { freePort, isFree } from '../ports.ts'
import { supervise } from '../supervise.ts'
import { postgresBinaries } from './binaries.ts'
import { DATABASE, makeCluster, makeDataFolder, OWNER, setOwnerPassword } from './cluster.ts'
import { assertReachable, postgresIdentity } from './identity.ts'
import { postgresFlags } from './postgres_flags.ts'
import { clearLeftover, readPostmaster } from './postmaster.ts'

const choosePort = async (preferred: number | undefined): Promise<number> =>
  preferred !== undefined && (await isFree(preferred)) ? preferred : freePort()

export async function startPostgres(options: PostgresOptions): Promise<RunningPostgres> {
  const { dataFolder, isDurable, log } = options
  const identity = postgresIdentity()
  const binaries = await postgresBinaries()
  await makeDataFolder(dataFolder)
  assertReachable(dirname(dataFolder), 'the data folder', identity)
  assertReachable(dirname(binaries.postgres), 'the Postgres program', identity)

  await clearLeftover(dataFolder)
  const ownerPassword = options.ownerPassword ?? randomBytes(24).toString('base64url')
  const cluster = await makeCluster(binaries, dataFolder, identity, { ownerPassword, isDurable })
  if (cluster === 'found' && options.ownerPassword === undefined) {
    await setOwnerPassword(binaries, dataFolder, identity, ownerPassword)
  }

  const port = await choosePort(options.preferredPort)
  const postgres = await supervise(
    {
      name: 'postgres',
      command: binaries.postgres,
      arguments: ['-D', dataFolder, '-p', String(port), ...postgresFlags(isDurable)],
      environment: { PATH: process.env.PATH, LC_ALL: 'C', TZ: 'UTC' },
      ...(identity === undefined ? {} : { identity }),
      stopSignal: 'SIGINT',
      stopMilliseconds: 4_000,
      orphan: 'guard',
      ...(options.folderToDeleteWhenOrphaned === undefined
        ? {}
        : { folderToDeleteWhenOrphaned: options.folderToDeleteWhenOrphaned }),
      readyMilliseconds: 60_000,
      isReady: async (pid) => {
        const postmaster = await readPostmaster(dataFolder)
        return postmaster?.pid === pid && postmaster.isReady
      },
      // Processes of a Postgres that was killed take a moment to notice.
      isPassing: (lastLines) =>
        lastLines.some((line) => /shared memory block .* is still in use|starting up/.test(line)),
      prepare: () => clearLeftover(dataFolder),
    },
    log,
  )
  return {
    ownerUrl: `postgres://${OWNER}:${ownerPassword}@127.0.0.1:${port}/${DATABASE}`,
    stop: () => postgres.stop(),
  }
}
