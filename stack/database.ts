import { createHmac } from 'node:crypto'
import postgres from 'postgres'
import { StackError } from './stack_error.ts'

export type Sql = postgres.Sql

export const connect = (url: string, connections = 1): Sql =>
  postgres(url, { max: connections, onnotice: () => undefined, connection: { application_name: 'lading' } })

export const withDatabase = async <Result>(url: string, work: (sql: Sql) => Promise<Result>): Promise<Result> => {
  const sql = connect(url)
  try {
    return await work(sql)
  } finally {
    await sql.end({ timeout: 1 })
  }
}

export async function assertDatabaseAnswers(url: string): Promise<void> {
  try {
    await withDatabase(url, (sql) => sql`select 1`)
  } catch (error) {
    throw new StackError(
      `DATABASE_URL: the database cannot be reached: ${error instanceof Error ? error.message : error}`,
    )
  }
}

const withCredentials = (url: string, user: string, password: string): string => {
  const changed = new URL(url)
  changed.username = user
  changed.password = password
  return changed.href
}

/**
 * The login of PostgREST and the sidecar. Its password follows from the owner's, so that every process that knows the owner
 * (side by side, after a restart) arrives at the same one without storing it.
 */
export const authenticatorUrl = (ownerUrl: string): string => {
  const ownerPassword = decodeURIComponent(new URL(ownerUrl).password)
  if (ownerPassword === '') {
    throw new StackError('DATABASE_URL: must carry the password of the database owner.')
  }
  const password = createHmac('sha256', ownerPassword).update('authenticator').digest('base64url')
  return withCredentials(ownerUrl, 'authenticator', password)
}

const canLogIn = (url: string): Promise<boolean> =>
  withDatabase(url, (sql) => sql`select 1`).then(
    () => true,
    () => false,
  )

/** Roles belong to the whole cluster: the password is set only where it does not work yet. */
export async function ensureAuthenticator(ownerUrl: string): Promise<string> {
  const url = authenticatorUrl(ownerUrl)
  if (!(await canLogIn(url))) {
    const password = new URL(url).password
    await withDatabase(ownerUrl, (sql) => sql.unsafe(`alter role authenticator password '${password}'`)).catch(
      (error: unknown) => {
        if ((error as { code?: string }).code !== '42501') throw error
        throw new StackError(
          'DATABASE_URL: the owner may not set the password of role authenticator. Give it CREATEROLE and ' +
            '`grant authenticator to OWNER with admin option`.',
        )
      },
    )
  }
  return url
}

/** What the database must know of its deployment: it computes addresses that clients see, and checks those that they save. */
export const setDeployment = (
  ownerUrl: string,
  deployment: { publicUrl: string; allowPrivateAddresses: boolean },
): Promise<unknown> =>
  withDatabase(
    ownerUrl,
    (sql) => sql`
      select internal.set_public_url(${deployment.publicUrl}),
        internal.set_allow_private_addresses(${deployment.allowPrivateAddresses})`,
  )
