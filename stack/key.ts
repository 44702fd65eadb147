import { runCommand, UsageError } from './command.ts'
import { withDatabase } from './database.ts'
import { findDatabase } from './find_database.ts'
import { issueApplicationKey, issueKey } from './keys.ts'

const usage = `Issues a key and prints it, the only time that it is shown.

  npm run --silent key -- operator NAME
  npm run --silent key -- business NAME BUSINESS_ID
  npm run --silent key -- warehouse NAME BUSINESS_ID
  npm run --silent key -- application NAME`

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

await runCommand(async () => {
  const [role, name, businessId, ...others] = process.argv.slice(2)
  if (name === undefined || name === '' || others.length > 0) throw new UsageError(usage)
  const { ownerUrl } = await findDatabase()
  const key = await withDatabase(ownerUrl, async (sql) => {
    if (role === 'operator' && businessId === undefined) return issueKey(sql, role, name)
    if (role === 'application' && businessId === undefined) return issueApplicationKey(sql, name)
    if ((role === 'business' || role === 'warehouse') && businessId !== undefined) {
      if (!uuid.test(businessId)) throw new UsageError(`BUSINESS_ID: "${businessId}" is not a uuid`)
      const [business] = await sql`select from api.businesses where id = ${businessId}`
      if (business === undefined) throw new UsageError(`BUSINESS_ID: there is no business ${businessId}`)
      return issueKey(sql, role, name, businessId)
    }
    throw new UsageError(usage)
  })
  console.log(key)
})
