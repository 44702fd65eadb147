import type { HttpBindings } from '@hono/node-server'
import type { Context } from 'hono'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import type { Sql } from '../stack/database.ts'
import { describeError, isCollision, isUnavailable, type Refusal, refusalOf } from '../stack/database_refusal.ts'
import type { Log } from '../stack/log.ts'
import { readBody, readMessage } from './callback_body.ts'
import { LARGEST_BODY } from './gateway.ts'
import { requestIdOf } from './gateway_headers.ts'

export const CALLBACK_PATH = '/v1/suppliers/:supplier/callbacks'

const LONGEST_IDEMPOTENCY_KEY = 255
const ATTEMPTS = 3

export type CallbackContext = Context<{ Bindings: HttpBindings }>

interface Call {
  applicationKey: string | null
  authorization: string | null
  supplier: string
  idempotencyKey: string | null
  refusal: Refusal | undefined
  message: string | undefined
}

interface Answer {
  status: 200 | 202 | 204
  updateResult?: Record<string, number>
}

/** All of a callback: keys, step, order and fulfillments are the database's business. */
async function receiveCallback(sql: Sql, call: Call): Promise<Answer> {
  const [row] = await sql<{ answer: Answer }[]>`
    select internal.receive_callback(
      ${call.applicationKey}, ${call.authorization}, ${call.supplier}, ${call.idempotencyKey},
      ${call.refusal === undefined ? null : JSON.stringify(call.refusal)}::text::jsonb,
      ${call.message ?? null}::text::jsonb
    ) as answer`
  if (row === undefined) throw new Error('internal.receive_callback returned nothing')
  return row.answer
}

async function receiveAgainAfterCollisions(sql: Sql, call: Call): Promise<Answer> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await receiveCallback(sql, call)
    } catch (error) {
      if (attempt === ATTEMPTS || !isCollision(error)) throw error
    }
  }
}

const readCall = (context: CallbackContext, body: Buffer): Call => {
  const { headers } = context.env.incoming
  const idempotencyKey = context.req.header('idempotency-key') || null
  const read = readMessage(headers, body)
  const refusal: Refusal | undefined =
    (idempotencyKey?.length ?? 0) > LONGEST_IDEMPOTENCY_KEY
      ? { status: 400, message: `Header Idempotency-Key: must be at most ${LONGEST_IDEMPOTENCY_KEY} characters` }
      : 'refusal' in read
        ? read.refusal
        : undefined
  return {
    applicationKey: context.req.header('apikey') ?? null,
    authorization: context.req.header('authorization') ?? null,
    // A text in Postgres cannot hold NUL; what has one is the id of nothing.
    supplier: (context.req.param('supplier') ?? '').replaceAll('\0', '\ufffd'),
    idempotencyKey,
    refusal,
    message: refusal === undefined && 'text' in read ? read.text : undefined,
  }
}

const refuse = (context: CallbackContext, status: number, message: string): Response =>
  context.text(message, status as ContentfulStatusCode)

/** POST {callback_url} (docs/fulfillment.md): the size, then one call of the database. */
export const callback =
  ({ sql, log }: { sql: Sql; log: Log }) =>
  async (context: CallbackContext): Promise<Response> => {
    const requestId = requestIdOf(context.env.incoming)
    context.header('X-Request-Id', requestId)
    const body = await readBody(context.env.incoming, LARGEST_BODY)
    if (body === 'cut off') return refuse(context, 400, 'The request ended before its body did')
    if (body === 'too large') {
      return refuse(context, 413, `The request body is larger than ${LARGEST_BODY / 1_000_000} MB`)
    }
    try {
      const { status, updateResult } = await receiveAgainAfterCollisions(sql, readCall(context, body))
      return status === 200 ? context.json({ updateResult }) : context.body(null, status)
    } catch (error) {
      const refusal = refusalOf(error)
      if (refusal !== undefined) return refuse(context, refusal.status, refusal.message)
      log.error({ requestId, ...describeError(error) }, 'a callback failed')
      if (isCollision(error) || isUnavailable(error)) {
        context.header('Retry-After', '1')
        return refuse(context, 503, 'The service is not available at the moment, try again')
      }
      return refuse(context, 500, `Internal error; the request's id is ${requestId}`)
    }
  }
