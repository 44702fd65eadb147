import {
  type Acting,
  add,
  addItem,
  addLocation,
  addOrder,
  distinct,
  type Item,
  type Line,
  quantitiesOf,
  representation,
  stock,
  succeeded,
} from '../builders.ts'
import type { Lading } from '../harness/lading.ts'
import {
  type CallbackAnswer,
  type CallbackOptions,
  type PostedFulfillment,
  type PostedLine,
  postCallback,
} from './callback.ts'

export type Status = 'NEW' | 'PENDING' | 'OPEN' | 'SUCCESS' | 'CANCELED' | 'BACKORDER'

export interface FulfillmentLine {
  id: string
  fulfillment_id: string
  order_line_item_id: string
  inventory_item_id: string
  sku: string
  title: string | null
  quantity: number
  grams: number | null
  price: number | null
  shipping_price: number | null
  shipping_tax: number | null
  shipping_method: string | null
  vendor: string | null
  additional_fields: Record<string, unknown> | null
}

export interface Fulfillment {
  id: string
  order_id: string
  supplier_id: string | null
  purchase_order_number: string | null
  location_id: string | null
  shipping_company: string | null
  shipping_method: string | null
  tracking_number: string | null
  tracking_urls: string[] | null
  shipped_at: string | null
  status: Status
  additional_fields: Record<string, unknown> | null
  fulfillment_line_items: FulfillmentLine[]
}

export interface Activity {
  fulfillment_id: string | null
  title: string
  description: string | null
  operation: string | null
  result: string
}

/** A process-shipments step with these locations in its map. */
export const addStep = async (business: Acting, locations: string[], fields: object = {}): Promise<string> =>
  (
    await add(business, 'process_shipments_steps', {
      warehouse_location_map: locations.map((locationId, n) => ({ warehouse: `W${n + 1}`, locationId })),
      ...fields,
    })
  ).id

interface NewFulfillment {
  order: { id: string }
  location: string | null
  lines: Line[]
  /** The state that it is brought to once its lines are there. */
  status?: Status
  [field: string]: unknown
}

export const addFulfillment = async (
  business: Acting,
  { order, location, lines, status = 'PENDING', ...fields }: NewFulfillment,
): Promise<{ id: string; lines: { id: string }[] }> => {
  const beforeShipping = status === 'NEW' || status === 'PENDING' ? status : 'PENDING'
  const { id } = await add(business, 'fulfillments', {
    order_id: order.id,
    location_id: location,
    status: beforeShipping,
    ...fields,
  })
  const added: { id: string }[] = []
  for (const { item, quantity } of lines) {
    added.push(
      await add(business, 'fulfillment_line_items', { fulfillment_id: id, inventory_item_id: item.id, quantity }),
    )
  }
  if (status !== beforeShipping) succeeded(await patchFulfillment(business, { id }, { status }))
  return { id, lines: added }
}

export const patchFulfillment = (business: Acting, fulfillment: { id: string }, fields: object) =>
  business.rest.patch<Fulfillment[]>(`/fulfillments?id=eq.${fulfillment.id}`, fields, representation)

export const deleteFulfillment = (business: Acting, fulfillment: { id: string }) =>
  business.rest.delete(`/fulfillments?id=eq.${fulfillment.id}`)

/** The fulfillments of an order with their lines, oldest first. */
export const fulfillmentsOf = async (business: Acting, order: { id: string }): Promise<Fulfillment[]> =>
  succeeded(
    await business.rest.get<Fulfillment[]>(
      `/fulfillments?select=*,fulfillment_line_items(*)&order_id=eq.${order.id}&order=id&fulfillment_line_items.order=id`,
    ),
  )

/** The fulfillments of an order in brief, `OPEN 3`, sorted. */
export const statesOf = async (business: Acting, order: { id: string }): Promise<string[]> =>
  (await fulfillmentsOf(business, order))
    .map(({ status, fulfillment_line_items: lines }) => `${status} ${lines.map(({ quantity }) => quantity).join('+')}`)
    .sort()

/** available_to_sell and committed of an item at a location, `90/0`. */
export const stockOf = async (business: Acting, item: Item, location: string): Promise<string> => {
  const { available_to_sell, committed } = await quantitiesOf(business, item, location)
  return `${available_to_sell}/${committed}`
}

export const activitiesOf = async (business: Acting, order: { id: string }): Promise<Activity[]> =>
  succeeded(
    await business.rest.get<Activity[]>(
      `/order_activities?select=fulfillment_id,title,description,operation,result&order_id=eq.${order.id}&order=id`,
    ),
  )

export interface Pending {
  item: Item
  location: string
  step: string
  order: { id: string; lines: { id: string }[] }
  fulfillment: { id: string; lines: { id: string }[] }
  warehouseOrderId: string
  /** Posts one fulfillment of the order to the callback: OPEN at the location unless told otherwise. */
  post(
    posted: Partial<PostedFulfillment> & { lineItems: PostedLine[] },
    options?: CallbackOptions & { partialShipments?: boolean; order?: object },
  ): Promise<CallbackAnswer>
  /** Posts with lines of the item: so many units. */
  ship(quantity: number, posted?: object, options?: { partialShipments?: boolean }): Promise<CallbackAnswer>
  states(): Promise<string[]>
  stock(): Promise<string>
}

interface NewPending {
  quantity?: number
  available?: number
  status?: Status
  channel?: { id: string } | null
  orderFields?: object
  fulfillmentFields?: object
  stepFields?: object
}

/** An order of 10 units of one item, all in one PENDING fulfillment at a mapped location that has 100: 100/10. */
export const addPending = async (
  lading: Lading,
  {
    quantity = 10,
    available = 100,
    status = 'PENDING',
    channel = null,
    orderFields = {},
    fulfillmentFields = {},
    stepFields = {},
  }: NewPending = {},
): Promise<Pending> => {
  const { a } = lading
  const [item, location] = await Promise.all([addItem(a), addLocation(a)])
  const [step, order] = await Promise.all([
    addStep(a, [location], stepFields),
    addOrder(a, { channel, lines: [{ item, quantity }], ...orderFields }),
    stock(a, item, location, available),
  ])
  const warehouseOrderId = distinct('WO')
  const fulfillment = await addFulfillment(a, {
    order,
    location,
    lines: [{ item, quantity }],
    status,
    additional_fields: { warehouse_order_id: warehouseOrderId },
    ...fulfillmentFields,
  })
  const post: Pending['post'] = (posted, { partialShipments, order: given = { id: order.id }, ...options } = {}) =>
    postCallback(
      lading,
      step,
      {
        orderUpdate: { ...given, fulfillments: [{ locationId: location, status: 'OPEN', ...posted }] },
        ...(partialShipments === undefined ? {} : { fulfillmentOptions: { partialShipments } }),
      },
      options,
    )
  return {
    item,
    location,
    step,
    order,
    fulfillment,
    warehouseOrderId,
    post,
    ship: (units, posted = {}, options = {}) =>
      post({ ...posted, lineItems: [{ sku: item.sku, quantity: units }] }, options),
    states: () => statesOf(a, order),
    stock: () => stockOf(a, item, location),
  }
}

export const named = (fields: Record<string, unknown>): { name: string; value: unknown }[] =>
  Object.entries(fields).map(([name, value]) => ({ name, value }))
