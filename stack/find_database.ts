import { existsSync } from 'node:fs'
import { type Connection, readConnection } from './connection.ts'
import { readSettings } from './settings.ts'
import { StackError } from './stack_error.ts'

export interface FoundDatabase {
  ownerUrl: string
  dataDir: string
  /** What npm start wrote, when the database is the one that it runs on. */
  connection: Connection | undefined
}

/** The database that a command works on: DATABASE_URL, else the one of npm start. */
export async function findDatabase(): Promise<FoundDatabase> {
  if (existsSync('.env')) process.loadEnvFile('.env')
  const settings = readSettings(process.env)
  const connection = await readConnection(settings.DATA_DIR)
  const ownerUrl = settings.DATABASE_URL ?? connection?.database_url
  if (ownerUrl === undefined) {
    throw new StackError(
      `There is no database: set DATABASE_URL, or run npm start first (it writes ${settings.DATA_DIR}/connection.json).`,
    )
  }
  return {
    ownerUrl,
    dataDir: settings.DATA_DIR,
    connection: connection?.database_url === ownerUrl ? connection : undefined,
  }
}
