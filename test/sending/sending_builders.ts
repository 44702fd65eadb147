import { type Acting, add, addItem, addLocation, addOrder, type Item, type Line, stock } from '../builders.ts'
import { addFulfillment, type Status } from '../fulfillment/scenario.ts'
import type { Lading } from '../harness/lading.ts'

export interface Sending {
  item: Item
  location: string
  step: string
  order: { id: string; lines: { id: string }[] }
  /** The lines that a fulfillment of all 10 units has. */
  lines: Line[]
}

export const payloadUrl = 'https://warehouse.example/orders'

export const addSendingStep = async (business: Acting, location: string | null, fields: object = {}): Promise<string> =>
  (
    await add(business, 'send_orders_steps', {
      payload_url: payloadUrl,
      warehouse_location_map: location === null ? [] : [{ warehouse: 'W1', locationId: location }],
      ...fields,
    })
  ).id

/** An order of 10 units of an item that a warehouse has 100 of, and the step that sends to it. */
export const addSending = async ({ a }: Lading, stepFields: object = {}): Promise<Sending> => {
  const [item, location] = await Promise.all([addItem(a), addLocation(a)])
  await stock(a, item, location, 100)
  const lines = [{ item, quantity: 10 }]
  const order = await addOrder(a, { channel: null, lines })
  return { item, location, step: await addSendingStep(a, location, stepFields), order, lines }
}

/** A NEW fulfillment of all that was ordered, at the warehouse, unless told otherwise. */
export const fulfill = (
  { a }: Lading,
  { order, location, lines }: Sending,
  fields: { location?: string | null; lines?: Line[]; status?: Status; [field: string]: unknown } = {},
) => addFulfillment(a, { order, location, lines, status: 'NEW', ...fields })

/** The fulfillments for which a job of this task waits, oldest first. */
export const queuedFor = async ({ sql }: Lading, task = 'send_order'): Promise<string[]> => {
  const jobs = await sql<{ fulfillment_id: string }[]>`
    select j.payload ->> 'fulfillment_id' as fulfillment_id
    from graphile_worker._private_jobs j
    join graphile_worker._private_tasks t on t.id = j.task_id
    where t.identifier = ${task}
    order by j.id`
  return jobs.map(({ fulfillment_id }) => fulfillment_id)
}

export interface ClaimedRequest {
  token: number
  url: string
  auth_query_field: string | null
  auth_query_value: string | null
  payload: Record<string, unknown> & { lineItems: Record<string, unknown>[] }
}

export const claim = async (
  { sql }: Lading,
  fulfillment: { id: string },
  lease = '60 s',
): Promise<ClaimedRequest | null> => {
  const [row] = await sql<{ request: ClaimedRequest | null }[]>`
    select (select claim from internal.claim_fulfillments(array[${fulfillment.id}::uuid], ${lease}::interval)) as request`
  return row?.request ?? null
}

interface Outcome {
  status?: number | null
  error?: string | null
  body?: string | null
}

export const record = async (
  { sql }: Lading,
  fulfillment: { id: string },
  token: number,
  { status = null, error = null, body = null }: Outcome,
): Promise<boolean | undefined> => {
  const [row] = await sql<{ recorded: boolean }[]>`
    select internal.record_sendings(jsonb_build_array(jsonb_build_object(
      'id', ${fulfillment.id}::uuid, 'token', ${token}::bigint, 'status', ${status}::integer,
      'network_error', ${error}::text, 'answer', ${body}::text))) > 0 as recorded`
  return row?.recorded
}
