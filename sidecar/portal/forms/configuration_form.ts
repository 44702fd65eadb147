import type { TransactionSql } from 'postgres'
import type { Action, Subscription } from '../queries/configurations.ts'

const LONGEST_NAME = 200
const LONGEST_ADDRESS = 2_000

export interface ConfigurationFields {
  name: string
  url: string
  isImmediate: boolean
  subscriptions: Subscription[]
}

export type ConfigurationErrors = Partial<Record<'name' | 'url', string>>

export const newConfiguration: ConfigurationFields = { name: '', url: '', isImmediate: false, subscriptions: [] }

export const ADDRESS_HINT = 'Enter the whole address of your consumer, beginning with https:// or http://.'

/** Reads the form; what it says of actions that do not exist is passed over. */
export const readConfigurationForm = (form: URLSearchParams, actions: readonly Action[]): ConfigurationFields => {
  const subscribed = form.getAll('action')
  const captured = form.getAll('snapshot')
  return {
    name: (form.get('name') ?? '').trim(),
    url: (form.get('url') ?? '').trim(),
    isImmediate: form.has('is_immediate'),
    subscriptions: actions
      .filter(({ action }) => subscribed.includes(action))
      .map(({ action }) => ({ action, capture_snapshot: captured.includes(action) })),
  }
}

const hasControlCharacters = (text: string): boolean => /\p{Cc}/u.test(text)

export async function checkConfiguration(
  sql: TransactionSql,
  fields: ConfigurationFields,
): Promise<ConfigurationErrors> {
  const errors: ConfigurationErrors = {}
  if (hasControlCharacters(fields.name)) errors.name = 'A name is plain text on one line.'
  else if (fields.name.length > LONGEST_NAME) errors.name = `A name has at most ${LONGEST_NAME} characters.`

  if (fields.url === '' || hasControlCharacters(fields.url) || !URL.canParse(fields.url)) errors.url = ADDRESS_HINT
  else if (fields.url.length > LONGEST_ADDRESS) errors.url = `An address has at most ${LONGEST_ADDRESS} characters.`
  else {
    const [answer] = await sql<{ is_address: boolean }[]>`select internal.is_http_address(${fields.url}) as is_address`
    if (answer?.is_address !== true) errors.url = ADDRESS_HINT
  }
  return errors
}

/** An address that the database refuses for a reason of its own. */
export const refusedAddress = (error: unknown): string | undefined => {
  if (!(error instanceof Error)) return undefined
  const refusal = /^hook_consumer_url: (.+)$/.exec(error.message)?.[1]
  if (refusal !== undefined) return `The address ${refusal}.`
  return 'constraint_name' in error && error.constraint_name === 'hook_consumer_url_is_http' ? ADDRESS_HINT : undefined
}
