import { randomBytes } from 'node:crypto'
import { inject } from 'vitest'
import { withDatabase } from '../../stack/database.ts'
import { databaseOf, inDatabase } from '../../stack/migrations.ts'
import { noteCalledFunctions } from './called_functions.ts'

export interface ClonedDatabase {
  ownerUrl: string
  drop(): Promise<unknown>
}

/** A database of its own, cloned from the migrated template. */
export async function cloneDatabase(): Promise<ClonedDatabase> {
  const { templateUrl } = inject('cluster')
  const name = `test_${randomBytes(6).toString('hex')}`
  const maintenanceUrl = inDatabase(templateUrl, 'postgres')
  await withDatabase(maintenanceUrl, (sql) => sql.unsafe(`create database ${name} template ${databaseOf(templateUrl)}`))
  const ownerUrl = inDatabase(templateUrl, name)
  return {
    ownerUrl,
    drop: async () => {
      await noteCalledFunctions(ownerUrl, inject('calledFunctions'))
      await withDatabase(maintenanceUrl, (sql) => sql.unsafe(`drop database if exists ${name} with (force)`))
    },
  }
}
