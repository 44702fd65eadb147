import type { TransactionSql } from 'postgres'

export const states = ['pending', 'sending', 'delivered', 'failed', 'canceled'] as const

export type State = (typeof states)[number]

export interface ListedDelivery {
  id: string
  webhook_configuration_id: string
  configuration_name: string | null
  hook_consumer_url: string
  action: string
  object_id: string
  event_id: string
  is_test: boolean
  replay_of: string | null
  state: State
  attempt_count: number
  next_attempt_time: Date | null
  response_status: number | null
  duration_ms: number | null
  error: string | null
  creation_time: Date
}

export interface DeliveryFilter {
  configuration?: string | null
  action?: string | null
  state?: State | null
  object?: string | null
  since?: Date | null
  until?: Date | null
}

export const readDeliveries = (
  sql: TransactionSql,
  filter: DeliveryFilter,
  page: { before?: string | null; after?: string | null; most: number },
) =>
  sql<ListedDelivery[]>`
    select * from internal.webhook_deliveries_page(
      ${filter.configuration ?? null}, ${filter.action ?? null}, ${filter.state ?? null}, ${filter.object ?? null},
      ${filter.since ?? null}, ${filter.until ?? null}, ${page.before ?? null}, ${page.after ?? null}, ${page.most})`

export interface Delivery extends ListedDelivery {
  sequence: string
  event_time: Date
  ended_time: Date | null
  payload_bytes: number
  /** As it is sent; null when it was too large to keep. */
  body: string | null
  pretty_body: string | null
}

/** jsonb_pretty indents by four, which is much on a phone. */
const halveIndentation = (json: string): string => json.replace(/^ +/gm, (spaces) => spaces.slice(spaces.length / 2))

export const readDelivery = async (sql: TransactionSql, id: string): Promise<Delivery | undefined> => {
  const [delivery] = await sql<Delivery[]>`
    select d.id, d.webhook_configuration_id, c.name as configuration_name, c.hook_consumer_url, d.action, d.object_id,
      d.event_id, d.is_test, d.replay_of, d.state, d.attempt_count, d.next_attempt_time, d.response_status,
      d.duration_ms, d.error, d.creation_time, d.sequence, d.event_time, d.ended_time, d.payload_bytes,
      d.payload::text as body, jsonb_pretty(d.payload) as pretty_body
    from api.webhook_deliveries d
    join api.webhook_configurations c on c.business_id = d.business_id and c.id = d.webhook_configuration_id
    where d.id = ${id}`
  return delivery && { ...delivery, pretty_body: delivery.pretty_body && halveIndentation(delivery.pretty_body) }
}

export interface Attempt {
  attempt_number: number
  attempt_time: Date
  request_url: string
  request_headers: Record<string, unknown>
  response_status: number | null
  response_headers: Record<string, unknown> | null
  response_body: string | null
  duration_ms: number
  error: string | null
}

/** The latest first. */
export const readAttempts = (sql: TransactionSql, deliveryId: string) =>
  sql<Attempt[]>`
    select attempt_number, attempt_time, request_url, request_headers, response_status, response_headers, response_body,
      duration_ms, error
    from api.webhook_delivery_attempts
    where webhook_delivery_id = ${deliveryId}
    order by attempt_number desc`

export const readReplaysOf = (sql: TransactionSql, deliveryId: string) =>
  sql<{ id: string; state: State; attempt_count: number; creation_time: Date }[]>`
    select id, state, attempt_count, creation_time
    from api.webhook_deliveries
    where replay_of = ${deliveryId}
    order by id desc
    limit 20`
