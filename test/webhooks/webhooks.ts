import type { Sql } from '../../stack/database.ts'
import { add, succeeded } from '../builders.ts'
import type { TestBusiness } from '../harness/lading.ts'
import { until } from '../harness/npm_start.ts'

export const shipmentActions = ['shipment.created', 'shipment.updated', 'shipment.updated.status', 'shipment.deleted']
export const receiptActions = [
  'shipment_receipt.created',
  'shipment_receipt.updated',
  'shipment_receipt.completed',
  'shipment_receipt.deleted',
]
export const allActions = [...shipmentActions, ...receiptActions]

export interface Configuration {
  id: string
  is_enabled: boolean
  disabled_reason: string | null
  disabled_time: string | null
}

export const addConfiguration = async (
  business: TestBusiness,
  {
    url = 'https://consumer.example/hook',
    actions = allActions,
    capture_snapshot = false,
    ...fields
  }: { url?: string; actions?: string[]; capture_snapshot?: boolean; [field: string]: unknown } = {},
): Promise<Configuration> => {
  const configuration = await add<Configuration>(business, 'webhook_configurations', {
    hook_consumer_url: url,
    ...fields,
  })
  for (const action of actions) {
    await add(business, 'webhook_configuration_actions', {
      webhook_configuration_id: configuration.id,
      action,
      capture_snapshot,
    })
  }
  return configuration
}

export const configurationOf = async (business: TestBusiness, id: string): Promise<Configuration | undefined> =>
  succeeded(await business.rest.get<Configuration[]>(`/webhook_configurations?id=eq.${id}`))[0]

export interface EventRow {
  id: string
  action: string
  status: 'ready' | 'sent'
  transaction_id: number
  json: Record<string, unknown> | null
}

/** The events of a shipment or a receipt in the order in which they were recorded. */
export const eventsOf = async (business: TestBusiness, object: { id: string }): Promise<EventRow[]> => {
  const read = async (name: string) =>
    succeeded(
      await business.rest.get<EventRow[]>(
        `/${name}_webhooks?${name}_id=eq.${object.id}&order=id&select=id,action,status,transaction_id,json:${name}_json`,
      ),
    )
  return [...(await read('shipment')), ...(await read('shipment_receipt'))]
}

export const actionsOf = async (business: TestBusiness, object: { id: string }): Promise<string[]> =>
  (await eventsOf(business, object)).map(({ action }) => action)

export interface Delivery {
  id: string
  event_id: string
  action: string
  object_id: string
  sequence: number
  state: 'pending' | 'sending' | 'delivered' | 'failed' | 'canceled'
  attempt_count: number
  next_attempt_time: string | null
  ended_time: string | null
  response_status: number | null
  error: string | null
  payload: { id: string; type: string; sequence: number; data: Record<string, unknown> } | null
  payload_bytes: number
  is_test: boolean
  replay_of: string | null
}

export const deliveriesOf = async (business: TestBusiness, configuration: { id: string }): Promise<Delivery[]> =>
  succeeded(
    await business.rest.get<Delivery[]>(`/webhook_deliveries?webhook_configuration_id=eq.${configuration.id}&order=id`),
  )

export interface AttemptRow {
  attempt_number: number
  request_url: string
  request_headers: Record<string, string>
  response_status: number | null
  response_headers: Record<string, string> | null
  response_body: string | null
  duration_ms: number
  error: string | null
}

export const attemptsOf = async (business: TestBusiness, delivery: { id: string }): Promise<AttemptRow[]> =>
  succeeded(
    await business.rest.get<AttemptRow[]>(
      `/webhook_delivery_attempts?webhook_delivery_id=eq.${delivery.id}&order=attempt_number`,
    ),
  )

/** Waits until all deliveries of a configuration have met the condition; there must be one. */
export const untilDeliveries = async (
  business: TestBusiness,
  configuration: { id: string },
  condition: (delivery: Delivery) => boolean,
  milliseconds?: number,
): Promise<Delivery[]> => {
  let deliveries: Delivery[] = []
  await until(
    'the deliveries are as wanted',
    async () => {
      deliveries = await deliveriesOf(business, configuration)
      return deliveries.length > 0 && deliveries.every(condition)
    },
    milliseconds,
  )
  return deliveries
}

export const untilAttempted = async (business: TestBusiness, configuration: { id: string }): Promise<Delivery> => {
  const [delivery] = await untilDeliveries(business, configuration, ({ attempt_count }) => attempt_count > 0)
  return delivery as Delivery
}

/** Fires whatever is ready, as the schedule does; returns how many events. */
export const fire = async (sql: Sql): Promise<number> => {
  let all = 0
  for (;;) {
    const [row] = await sql<{ fired: number }[]>`select fired from internal.fire_events()`
    if (row === undefined || row.fired === 0) return all
    all += row.fired
  }
}

/** The secrets of a configuration, the current one first. */
export const secretsOf = async (sql: Sql, configuration: { id: string }): Promise<string[]> =>
  (
    await sql<{ secret: string }[]>`
      select secret from internal.webhook_secrets where webhook_configuration_id = ${configuration.id}
      order by expires_time desc nulls first`
  ).map(({ secret }) => secret)
