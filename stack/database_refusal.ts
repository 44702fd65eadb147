import postgres from 'postgres'

export interface Refusal {
  status: number
  message: string
}

const oneLine = (text: string): string => text.replace(/\s*[\r\n]+\s*/g, ' ').trim()

// 22: data that does not fit its type, 23: a constraint, 54: more than Postgres can take.
const isAboutTheInput = (code: string): boolean => code === 'P0001' || /^(22|23|54)/.test(code)

/** What the database refused, as HTTP status and one line of text. Undefined when the failure is not the caller's. */
export function refusalOf(error: unknown): Refusal | undefined {
  if (!(error instanceof postgres.PostgresError)) return undefined
  const status = /^PT([45]\d\d)$/.exec(error.code)?.[1]
  if (status !== undefined) return { status: Number(status), message: oneLine(error.message) }
  return isAboutTheInput(error.code) ? { status: 400, message: oneLine(error.message) } : undefined
}

const isPostgres = (error: unknown, codes: RegExp): boolean =>
  error instanceof postgres.PostgresError && codes.test(error.code)

/** Transactions that met in the wrong order: the same call again may well succeed. */
export const isCollision = (error: unknown): boolean => isPostgres(error, /^(40P01|40001)$/)

const connectionProblems = new Set([
  'CONNECTION_CLOSED',
  'CONNECTION_DESTROYED',
  'CONNECTION_ENDED',
  'CONNECT_TIMEOUT',
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOENT',
  'ENOTFOUND',
  'EPIPE',
  'ETIMEDOUT',
])

/** The database is away, starting, stopping or full. */
export const isUnavailable = (error: unknown): boolean =>
  isPostgres(error, /^(08|53|57P|55P03|57014)/) ||
  (error instanceof Error && 'code' in error && connectionProblems.has(String(error.code)))

/** What may be logged of an error: postgres.js hangs the query and its parameters, keys among them, on its errors. */
export const describeError = (error: unknown): Record<string, unknown> =>
  error instanceof postgres.PostgresError
    ? { code: error.code, message: error.message, where: error.where, routine: error.routine }
    : error instanceof Error
      ? { name: error.name, message: error.message, stack: error.stack }
      : { message: String(error) }
