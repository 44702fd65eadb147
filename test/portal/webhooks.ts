import type { Sql } from '../../stack/database.ts'

/** Rows as the worker leaves them behind, written as the owner of the database. */

export interface Configuration {
  id: string
  business_id: string
}

export async function addConfiguration(
  sql: Sql,
  businessId: string,
  fields: { name?: string | null; url?: string; actions?: string[]; is_immediate?: boolean } = {},
): Promise<Configuration> {
  const [row] = await sql<Configuration[]>`
    insert into api.webhook_configurations (business_id, name, hook_consumer_url, is_immediate)
    values (
      ${businessId}, ${fields.name ?? null}, ${fields.url ?? 'https://consumer.example/hooks'}, ${fields.is_immediate ?? false}
    )
    returning id, business_id`
  if (row === undefined) throw new Error('the configuration was not inserted')
  for (const action of fields.actions ?? []) {
    await sql`
      insert into api.webhook_configuration_actions (business_id, webhook_configuration_id, action)
      values (${businessId}, ${row.id}, ${action})`
  }
  return row
}

interface DeliveryFields {
  action?: string
  object_id?: string
  state?: 'pending' | 'sending' | 'delivered' | 'failed' | 'canceled'
  attempt_count?: number
  response_status?: number | null
  duration_ms?: number | null
  error?: string | null
  is_test?: boolean
  data?: object
  /** Larger than what is kept. */
  isLarge?: boolean
  minutesAgo?: number
}

export interface AddedDelivery {
  id: string
  event_id: string
  object_id: string
}

export async function addDelivery(
  sql: Sql,
  configuration: Configuration,
  fields: DeliveryFields = {},
): Promise<AddedDelivery> {
  const state = fields.state ?? 'delivered'
  const hasEnded = state === 'delivered' || state === 'failed' || state === 'canceled'
  const ago = `${fields.minutesAgo ?? 0} minutes`
  const payload = fields.isLarge === true ? null : sql.json({ data: { note: 'plain', ...fields.data } })
  const [row] = await sql<AddedDelivery[]>`
    insert into api.webhook_deliveries (
      id, business_id, webhook_configuration_id, event_id, action, object_id, sequence, event_time, is_test, payload,
      payload_bytes, state, attempt_count, next_attempt_time, response_status, duration_ms, error, ended_time, creation_time
    )
    values (
      uuidv7(-${ago}::interval), ${configuration.business_id}, ${configuration.id}, uuidv7(), ${fields.action ?? 'shipment.created'},
      coalesce(${fields.object_id ?? null}::uuid, uuidv7()), 1, now() - ${ago}::interval, ${fields.is_test ?? false}, ${payload},
      ${fields.isLarge === true ? 400_000 : 200}, ${state}, ${fields.attempt_count ?? (hasEnded ? 1 : 0)},
      ${hasEnded ? null : sql`now() + interval '5 minutes'`}, ${fields.response_status ?? null}, ${fields.duration_ms ?? null},
      ${fields.error ?? null}, ${hasEnded ? sql`now() - ${ago}::interval` : null}, now() - ${ago}::interval
    )
    returning id, event_id, object_id`
  if (row === undefined) throw new Error('the delivery was not inserted')
  return row
}

export const addAttempt = (
  sql: Sql,
  configuration: Configuration,
  delivery: { id: string },
  fields: {
    number: number
    url?: string
    request_headers?: Record<string, string>
    response_status?: number | null
    response_headers?: Record<string, string> | null
    response_body?: string | null
    duration_ms?: number
    error?: string | null
  },
) => sql`
  insert into api.webhook_delivery_attempts (
    business_id, webhook_delivery_id, attempt_number, request_url, request_headers, response_status, response_headers,
    response_body, duration_ms, error
  )
  values (
    ${configuration.business_id}, ${delivery.id}, ${fields.number}, ${fields.url ?? 'https://consumer.example/hooks'},
    ${sql.json(fields.request_headers ?? {})}, ${fields.response_status ?? null},
    ${fields.response_headers == null ? null : sql.json(fields.response_headers)}, ${fields.response_body ?? null},
    ${fields.duration_ms ?? 120}, ${fields.error ?? null}
  )`
