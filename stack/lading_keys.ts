import postgres from 'postgres'
import type { Connection } from './connection.ts'
import { type Sql, withDatabase } from './database.ts'
import { makeDemo } from './demo.ts'
import { issueApplicationKey, issueKey } from './keys.ts'

type Keys = Pick<Connection, 'application_key' | 'operator_key' | 'demo'>

const isAccepted = async (sql: Sql, applicationKey: string, key: string): Promise<boolean> => {
  try {
    await sql`select internal.identify_caller(${applicationKey}, ${`Bearer ${key}`})`
    return true
  } catch (error) {
    if (error instanceof postgres.PostgresError && error.code === 'PT401') return false
    throw error
  }
}

/** The keys of the last start as long as the database accepts them, else new ones. */
export const keepOrIssueKeys = (
  ownerUrl: string,
  previous: Connection | undefined,
  wantsDemo: boolean,
): Promise<Keys & { isNew: boolean }> =>
  withDatabase(ownerUrl, async (sql) => {
    const known = previous
    if (known !== undefined && (await isAccepted(sql, known.application_key, known.operator_key))) {
      const demoIsKnown =
        known.demo !== undefined && (await isAccepted(sql, known.application_key, known.demo.business_key))
      const demo = demoIsKnown ? known.demo : wantsDemo ? await makeDemo(sql) : undefined
      return {
        application_key: known.application_key,
        operator_key: known.operator_key,
        ...(demo === undefined ? {} : { demo }),
        isNew: !demoIsKnown && demo !== undefined,
      }
    }
    return {
      application_key: await issueApplicationKey(sql, 'Lading'),
      operator_key: await issueKey(sql, 'operator', 'First operator'),
      ...(wantsDemo ? { demo: await makeDemo(sql) } : {}),
      isNew: true,
    }
  })
