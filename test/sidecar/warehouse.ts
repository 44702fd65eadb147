import { add, addItem, addLocation, type Item, succeeded } from '../builders.ts'
import type { Lading, TestBusiness } from '../harness/lading.ts'

export interface WarehouseOrder {
  id: string
  channelOrderId: string
  item: Item
  fulfillmentId: string
  /** The warehouse location, as locationId on the wire. */
  locationId: string
}

/** A process-shipments step for one new warehouse. */
export async function addCallbackStep(
  business: TestBusiness,
  fields: object = {},
): Promise<{ id: string; callbackUrl: string; locationId: string }> {
  const locationId = await addLocation(business)
  const step = await add<{ id: string; callback_url: string }>(business, 'process_shipments_steps', {
    warehouse_location_map: [{ warehouse: 'W', locationId }],
    ...fields,
  })
  return { id: step.id, callbackUrl: step.callback_url, locationId }
}

let orders = 0

/** An order whose units are PENDING at a warehouse. */
export async function addPendingOrder(
  business: TestBusiness,
  locationId: string,
  quantity = 10,
): Promise<WarehouseOrder> {
  const item = await addItem(business)
  const channelOrderId = `CO-${++orders}`
  const order = await add(business, 'orders', { channel_order_id: channelOrderId })
  const line = await add(business, 'order_line_items', { order_id: order.id, inventory_item_id: item.id, quantity })
  const fulfillment = succeeded(
    await business.rest.rpc<{ id: string }>('create_fulfillment', {
      fulfillment: {
        order_id: order.id,
        location_id: locationId,
        line_items: [{ order_line_item_id: line.id, quantity }],
      },
    }),
  )
  succeeded(await business.rest.patch(`/fulfillments?id=eq.${fulfillment.id}`, { status: 'PENDING' }))
  return { id: order.id, channelOrderId, item, fulfillmentId: fulfillment.id, locationId }
}

export const shipped = (order: WarehouseOrder, quantity = 10, fields: object = {}) => ({
  orderUpdate: {
    channelOrderId: order.channelOrderId,
    fulfillments: [
      { locationId: order.locationId, status: 'OPEN', lineItems: [{ sku: order.item.sku, quantity }], ...fields },
    ],
  },
})

export interface CallbackAnswer {
  status: number
  text: string
  headers: Headers
}

/** Posts to a callback address with the keys of a warehouse; a header that is null is left out. */
export const makeCallbackClient =
  (lading: Lading, business: TestBusiness) =>
  async (url: string, body: unknown, headers: Record<string, string | null> = {}): Promise<CallbackAnswer> => {
    const given: Record<string, string | null> = {
      'Content-Type': 'application/json',
      apikey: lading.applicationKey,
      Authorization: `Bearer ${business.warehouseKey}`,
      ...headers,
    }
    const sent = Object.entries(given).filter((entry): entry is [string, string] => entry[1] !== null)
    const response = await fetch(url, {
      method: 'POST',
      headers: sent,
      body: typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body),
    })
    return { status: response.status, text: await response.text(), headers: response.headers }
  }
