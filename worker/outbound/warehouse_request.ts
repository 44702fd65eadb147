import type { OutboundRequest } from './post.ts'

/** How much of a warehouse's answer is kept. */
export const ANSWER_BYTES = 4_096

const withParameter = (url: string, name: string, value: string): string => {
  if (!URL.canParse(url)) return url
  const changed = new URL(url)
  const parameter = `${encodeURIComponent(name)}=${encodeURIComponent(value)}`
  changed.search = changed.search === '' ? parameter : `${changed.search}&${parameter}`
  return changed.href
}

/** A POST of JSON to a warehouse, with the authentication parameter added to the query where there is one. */
export const warehouseRequest = (target: {
  url: string
  idempotencyKey: string
  payload: unknown
  authentication?: { name: string; value: string } | undefined
}): OutboundRequest => ({
  url:
    target.authentication === undefined
      ? target.url
      : withParameter(target.url, target.authentication.name, target.authentication.value),
  headers: {
    'Content-Type': 'application/json',
    'Idempotency-Key': target.idempotencyKey,
    'User-Agent': 'lading',
  },
  body: JSON.stringify(target.payload),
})
