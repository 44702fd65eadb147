import { z } from 'zod'

export const wholeNumber = (lowest: number, highest: number) =>
  z
    .string()
    .regex(/^\d+$/, `must be a whole number from ${lowest} to ${highest}`)
    .transform(Number)
    .refine((value) => value >= lowest && value <= highest, `must be a whole number from ${lowest} to ${highest}`)

export const port = wholeNumber(0, 65535)

export const flag = z.stringbool({ error: 'must be on or off' })

export const logLevel = z.enum(['silent', 'fatal', 'error', 'warn', 'info', 'debug', 'trace'], {
  error: 'must be one of silent, fatal, error, warn, info, debug, trace',
})

const addressOf = (protocols: string[], message: string) =>
  z.string().refine((value) => URL.canParse(value) && protocols.includes(new URL(value).protocol), message)

export const httpAddress = addressOf(['http:', 'https:'], 'must be an http:// or https:// address')
  .refine((value) => !/[?#]/.test(value), 'must not have a query or a fragment')
  .transform((value) => value.replace(/\/+$/, ''))

export const databaseAddress = addressOf(['postgres:', 'postgresql:'], 'must be a postgres:// address').refine(
  (value) => new URL(value).pathname.length > 1,
  'must name a database, as in postgres://user:password@host/database',
)

export class SettingsRefused extends Error {
  override name = 'SettingsRefused'
}

/** Values are not repeated in the error: some settings are secrets. An empty variable counts as not set. */
export function readEnvironment<Schema extends z.ZodObject>(
  schema: Schema,
  environment: NodeJS.ProcessEnv,
): z.infer<Schema> {
  const given = Object.fromEntries(
    Object.keys(schema.shape)
      .map((name) => [name, environment[name]] as const)
      .filter(([, value]) => value !== undefined && value !== ''),
  )
  const result = schema.safeParse(given)
  if (result.success) return result.data
  const refusals = result.error.issues.map((issue) => {
    const name = issue.path.join('.')
    return `  ${name}: ${given[name] === undefined ? 'is required' : issue.message}`
  })
  throw new SettingsRefused(`Settings refused:\n${refusals.join('\n')}`)
}
