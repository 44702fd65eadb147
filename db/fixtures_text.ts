import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { compile } from 'graphile-migrate'

/** The living source as one text: db/fixtures/all.sql with its includes put in. */
export async function fixturesText(ownerUrl: string): Promise<string> {
  const manifest = join(import.meta.dirname, 'fixtures/all.sql')
  const settings = { migrationsFolder: import.meta.dirname, connectionString: ownerUrl }
  return compile(settings, await readFile(manifest, 'utf8'), { filename: manifest })
}
