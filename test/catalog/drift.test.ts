import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { buildFromFixtures, buildFromMigrations } from '../../db/build.ts'
import { readSchemaText } from '../../db/catalog/read.ts'
import { withEmptyDatabase } from '../../db/empty_database.ts'
import { firstDifference } from '../../db/first_difference.ts'
import { type Sql, withDatabase } from '../../stack/database.ts'
import { readContents } from './contents.ts'

interface Built {
  schema: string
  contents: Record<string, unknown>
}

const read = async (sql: Sql): Promise<Built> => ({
  schema: await readSchemaText(sql),
  contents: await readContents(sql),
})

/** Each in a Postgres of its own, since roles belong to all databases of one. */
const build = (how: (ownerUrl: string) => Promise<void>): Promise<Built> =>
  withEmptyDatabase(async (ownerUrl) => {
    await how(ownerUrl)
    return withDatabase(ownerUrl, read)
  })

describe('the living source and the committed migrations', () => {
  let fromFixtures: Built
  let fromMigrations: Built
  let migratedAgain: Built
  let secondRun: { before: number; after: number }

  beforeAll(async () => {
    fromFixtures = await build(buildFromFixtures)
    await withEmptyDatabase(async (ownerUrl) => {
      await buildFromMigrations(ownerUrl)
      fromMigrations = await withDatabase(ownerUrl, read)
      const before = await withDatabase(ownerUrl, countMigrations)
      await buildFromMigrations(ownerUrl)
      migratedAgain = await withDatabase(ownerUrl, read)
      secondRun = { before, after: await withDatabase(ownerUrl, countMigrations) }
    })
  })

  it('db/fixtures and db/committed make the same schema, object by object', () => {
    expect(firstDifference(fromFixtures.schema, fromMigrations.schema)).toBeUndefined()
  })

  it('db/fixtures and db/committed write the same rows', () => {
    expect(fromMigrations.contents).toEqual(fromFixtures.contents)
  })

  it('db/schema.sql is what they make', async () => {
    const written = await readFile(join(import.meta.dirname, '../../db/schema.sql'), 'utf8')
    expect(firstDifference(written, fromFixtures.schema), 'npm run db:schema writes it').toBeUndefined()
  })

  it('migrating a second time changes nothing', () => {
    expect(secondRun.before).toBeGreaterThan(0)
    expect(secondRun.after).toBe(secondRun.before)
    expect(firstDifference(fromMigrations.schema, migratedAgain.schema)).toBeUndefined()
    expect(migratedAgain.contents).toEqual(fromMigrations.contents)
  })
})

async function countMigrations(sql: Sql): Promise<number> {
  const [row] = await sql<{ count: number }[]>`select count(*)::integer as count from graphile_migrate.migrations`
  return row?.count ?? 0
}
