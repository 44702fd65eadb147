import type { Task } from 'graphile-worker'
import { inBatches } from '../in_batches.ts'
import { type Outcome, post } from '../outbound/post.ts'
import { ANSWER_BYTES, warehouseRequest } from '../outbound/warehouse_request.ts'
import type { Parts } from './parts.ts'
import { aboutFulfillment } from './payload.ts'

/** A claim outlives its request by this, so that nobody takes over what may still be recorded. */
const LEASE_MARGIN_SECONDS = 30

const MOST_AT_ONCE = 100

/** A warehouse may echo the address that it was called at: the secret in it is not kept. */
const without = (secret: string | null, answer: string): string =>
  secret === null || secret === ''
    ? answer
    : answer.replaceAll(secret, '***').replaceAll(encodeURIComponent(secret), '***')

interface Claim {
  token: string
  url: string
  auth_query_field: string | null
  auth_query_value: string | null
  payload: unknown
}

interface Sent extends Outcome {
  id: string
  token: string
}

/**
 * Sends a NEW fulfillment to its warehouse: claim, post with no transaction open, record. A process that dies in between
 * leaves a claim that runs out; the sweep then has it sent again with the same Idempotency-Key.
 */
export const sendOrder = ({ sql, outbound, sendMilliseconds }: Parts): Task => {
  const leaseSeconds = sendMilliseconds / 1_000 + LEASE_MARGIN_SECONDS

  const claim = inBatches<string, Claim | null>(MOST_AT_ONCE, async (ids) => {
    const rows = await sql<{ id: string; claim: Claim | null }[]>`
      select fulfillment_id as id, claim
      from internal.claim_fulfillments(${ids}::uuid[], make_interval(secs => ${leaseSeconds}))`
    const claims = new Map(rows.map((row) => [row.id, row.claim]))
    // Two jobs for one fulfillment: the claim is that of the first.
    return ids.map((id) => {
      const own = claims.get(id) ?? null
      claims.delete(id)
      return own
    })
  })

  const record = inBatches<Sent, void>(MOST_AT_ONCE, async (sent) => {
    const outcomes = sent.map(({ id, token, status, networkError, answer }) => ({
      id,
      token,
      status,
      network_error: networkError,
      answer,
    }))
    await sql`select internal.record_sendings(${sql.json(outcomes)})`
    return sent.map(() => undefined)
  })

  return async (payload, helpers) => {
    const { fulfillment_id: id } = aboutFulfillment.parse(payload)
    const claimed = await claim(id)
    if (claimed === null) return

    const { auth_query_field: name, auth_query_value: value } = claimed
    const outcome = await post(
      outbound,
      warehouseRequest({
        url: claimed.url,
        idempotencyKey: id,
        payload: claimed.payload,
        authentication: name === null || value === null ? undefined : { name, value },
      }),
      {
        milliseconds: sendMilliseconds,
        answerBytes: ANSWER_BYTES,
        ...(helpers.abortSignal === undefined ? {} : { signal: helpers.abortSignal }),
      },
    )
    await record({ ...outcome, answer: without(value, outcome.answer), id, token: claimed.token })
  }
}
