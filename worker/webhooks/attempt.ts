import type { OutboundRequest, Outcome } from '../outbound/post.ts'
import { headersToKeep } from './signed_request.ts'

/** How much of a consumer's answer is read and kept. */
export const ANSWER_BYTES = 16_384

/** As internal.record_attempt takes it. */
export interface Attempt {
  request_url: string
  request_headers: Record<string, string>
  response_status: number | null
  response_headers: Record<string, string> | null
  response_body: string | null
  duration_ms: number
  error: string | null
  retry_after_seconds: number | null
}

const isDelivered = (status: number | null): boolean => status !== null && status >= 200 && status <= 299

const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

const problemOf = ({ status, networkError }: Outcome): string | null => {
  if (isDelivered(status)) return null
  const answered =
    status === null
      ? []
      : [status >= 300 && status <= 399 ? `Answered ${status}, redirects are not followed` : `Answered ${status}`]
  return [...answered, ...(networkError === null ? [] : [capitalized(networkError)])].join('; ')
}

/** Retry-After: a number of seconds, or a date. */
export const retryAfterSeconds = (value: string | undefined, now: Date): number | null => {
  if (value === undefined) return null
  if (/^\s*\d{1,9}\s*$/.test(value)) return Number(value)
  // HTTP dates begin with a day's name; Date.parse alone would take much else.
  const date = /^\s*[A-Z][a-z]{2,8},? /.test(value) ? Date.parse(value) : Number.NaN
  return Number.isNaN(date) ? null : Math.max(0, Math.ceil((date - now.getTime()) / 1_000))
}

/** Bytes that were no text have grown when they were replaced. */
const cut = (text: string): string =>
  new TextDecoder().decode(Buffer.from(text).subarray(0, ANSWER_BYTES), { stream: true })

export const attemptOf = (request: OutboundRequest, outcome: Outcome, duration: number, now: Date): Attempt => ({
  request_url: request.url,
  request_headers: headersToKeep(request.headers),
  response_status: outcome.status,
  response_headers: outcome.headers,
  response_body: outcome.status === null ? null : cut(outcome.answer),
  duration_ms: Math.round(duration),
  error: problemOf(outcome),
  retry_after_seconds: isDelivered(outcome.status) ? null : retryAfterSeconds(outcome.headers?.['retry-after'], now),
})
