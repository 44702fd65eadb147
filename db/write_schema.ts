import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { withDatabase } from '../stack/database.ts'
import { buildFromFixtures } from './build.ts'
import { readSchemaText } from './catalog/read.ts'
import { withEmptyDatabase } from './empty_database.ts'
import { firstDifference } from './first_difference.ts'

const file = join(import.meta.dirname, 'schema.sql')

const { values } = parseArgs({ options: { check: { type: 'boolean', default: false } } })

const text = await withEmptyDatabase(async (ownerUrl) => {
  await buildFromFixtures(ownerUrl)
  return withDatabase(ownerUrl, readSchemaText)
})

if (!values.check) {
  await writeFile(file, text)
} else {
  const difference = firstDifference(await readFile(file, 'utf8').catch(() => ''), text)
  if (difference !== undefined) {
    console.error(`db/schema.sql is not what db/fixtures makes; npm run db:schema writes it anew.\n${difference}`)
    process.exitCode = 1
  }
}
