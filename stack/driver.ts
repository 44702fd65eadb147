import type { Log } from './log.ts'

/** Where Postgres and PostgREST come from. The same stack runs on any driver. */
export interface Driver {
  startPostgres(options: PostgresOptions): Promise<RunningPostgres>
  startPostgrest(options: PostgrestOptions): Promise<RunningPostgrest>
}

export interface PostgresOptions {
  dataFolder: string
  /** Tried first, so that the address stays the same from start to start. */
  preferredPort?: number
  /** The password of the owner if it is known; without it a new one is set. */
  ownerPassword?: string
  /** False gives up safety against a crash of the machine for speed: for tests. */
  isDurable: boolean
  /** Deleted when this process is killed with -9: for folders that only this process uses. */
  folderToDeleteWhenOrphaned?: string
  log: Log
}

export interface RunningPostgres {
  /** Connects as the owner of all objects, who is no superuser. */
  readonly ownerUrl: string
  stop(): Promise<void>
}

export interface PostgrestOptions {
  authenticatorUrl: string
  publicUrl: string
  /** A folder of ours that nobody else can enter, with a short path: the socket goes there. */
  socketFolder: string
  logLevel: string
  binary?: string
  log: Log
}

export interface RunningPostgrest {
  /** `unix:/path/of/socket` or `http://host:port`. */
  readonly upstream: string
  stop(): Promise<void>
}
