import type { Task } from 'graphile-worker'
import { isSuccess, type Outcome, post } from '../outbound/post.ts'
import { ANSWER_BYTES, warehouseRequest } from '../outbound/warehouse_request.ts'
import type { Parts } from './parts.ts'
import { aboutFulfillment } from './payload.ts'

/** With the worker's growing pauses: about half an hour. */
export const CANCEL_ATTEMPTS = 8

const describe = ({ status, networkError, answer }: Outcome): string =>
  [
    networkError === null ? '' : `Network error: ${networkError}`,
    status === null ? '' : `HTTP status: ${status}`,
    answer === '' ? '' : `Response: ${answer}`,
  ]
    .filter((line) => line !== '')
    .join('\n')

/** Tells a warehouse that a fulfillment was canceled here, until it accepts or the attempts are used up. */
export const cancelOrder =
  ({ sql, outbound, sendMilliseconds }: Parts): Task =>
  async (payload, helpers) => {
    const { fulfillment_id: id } = aboutFulfillment.parse(payload)
    const [row] = await sql<{ request: { url: string; payload: unknown } | null }[]>`
      select internal.cancellation_request(${id}) as request`
    const request = row?.request
    if (request == null) return

    const outcome = await post(outbound, warehouseRequest({ ...request, idempotencyKey: `cancel-${id}` }), {
      milliseconds: sendMilliseconds,
      answerBytes: ANSWER_BYTES,
      ...(helpers.abortSignal === undefined ? {} : { signal: helpers.abortSignal }),
    })
    const isAccepted = isSuccess(outcome)
    if (!isAccepted && helpers.job.attempts < CANCEL_ATTEMPTS) {
      throw new Error(`the warehouse did not accept the cancellation: ${outcome.networkError ?? outcome.status}`)
    }
    await sql`select internal.record_cancellation(${id}, ${isAccepted}, ${describe(outcome)})`
  }
