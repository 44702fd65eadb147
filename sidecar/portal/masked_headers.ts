const secret = /signature|authorization|cookie|secret|token|api-?key|password/i

const MASK = '••••••••'

/** Headers in the order of their names; the values of those that carry secrets are not shown. */
export const maskedHeaders = (headers: Record<string, unknown>): [name: string, value: string][] =>
  Object.entries(headers)
    .map(([name, value]): [string, string] => [
      name,
      secret.test(name) ? MASK : Array.isArray(value) ? value.join(', ') : String(value),
    ])
    .sort(([a], [b]) => a.localeCompare(b))
