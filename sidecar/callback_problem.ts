import type { z } from 'zod'

export const pathText = (path: readonly PropertyKey[]): string =>
  path
    .map((key) => (typeof key === 'number' ? `[${key}]` : `.${String(key)}`))
    .join('')
    .replace(/^\./, '')

const typeNames: Record<string, string> = {
  string: 'text',
  int: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  object: 'an object',
  array: 'an array',
}

const units: Record<string, string> = { string: ' characters', array: ' entries' }

/** Says what is wrong in the words of the interface. */
export const wording: z.core.$ZodErrorMap = (issue) => {
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined ? 'is required' : `must be ${typeNames[issue.expected] ?? issue.expected}`
    case 'too_big':
      return `must be at most ${issue.maximum}${units[issue.origin] ?? ''}`
    case 'too_small':
      return issue.origin === 'string' && issue.minimum === 1
        ? 'must not be empty'
        : `must be at least ${issue.minimum}${units[issue.origin] ?? ''}`
    case 'invalid_value':
      return issue.input === undefined ? 'is required' : `must be one of ${issue.values.map(String).join(', ')}`
    case 'invalid_format':
      return issue.format === 'datetime' ? 'must be an ISO 8601 date-time' : undefined
    default:
      return undefined
  }
}

/** The first thing that is wrong: one line, its path first. */
export function problemOf(error: z.ZodError): string {
  const [issue] = error.issues
  if (issue === undefined) return 'The message does not fit its schema'
  return issue.path.length === 0 ? issue.message : `${pathText(issue.path)}: ${issue.message}`
}
