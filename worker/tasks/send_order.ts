import type { Task } from 'graphile-worker'
import { post } from '../outbound/post.ts'
import { ANSWER_BYTES, warehouseRequest } from '../outbound/warehouse_request.ts'
import type { Parts } from './parts.ts'
import { aboutFulfillment } from './payload.ts'

/** A claim outlives its request by this, so that nobody takes over what may still be recorded. */
const LEASE_MARGIN_SECONDS = 30

interface Claim {
  token: string
  url: string
  auth_query_field: string | null
  auth_query_value: string | null
  payload: unknown
}

/**
 * Sends a NEW fulfillment to its warehouse: claim, post with no transaction open, record. A process that dies in between
 * leaves a claim that runs out; the sweep then has it sent again with the same Idempotency-Key.
 */
export const sendOrder =
  ({ sql, outbound, sendMilliseconds }: Parts): Task =>
  async (payload, helpers) => {
    const { fulfillment_id: id } = aboutFulfillment.parse(payload)
    const leaseSeconds = sendMilliseconds / 1_000 + LEASE_MARGIN_SECONDS
    const [claimed] = await sql<{ claim: Claim | null }[]>`
      select internal.claim_fulfillment(${id}, make_interval(secs => ${leaseSeconds})) as claim`
    const claim = claimed?.claim
    if (claim == null) return

    const { auth_query_field: name, auth_query_value: value } = claim
    const outcome = await post(
      outbound,
      warehouseRequest({
        url: claim.url,
        idempotencyKey: id,
        payload: claim.payload,
        authentication: name === null || value === null ? undefined : { name, value },
      }),
      {
        milliseconds: sendMilliseconds,
        answerBytes: ANSWER_BYTES,
        ...(helpers.abortSignal === undefined ? {} : { signal: helpers.abortSignal }),
      },
    )

    await sql`
      select internal.record_sending(
        ${id}, ${claim.token}, ${outcome.status}, ${outcome.networkError}, ${outcome.answer}
      )`
  }
