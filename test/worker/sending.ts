import { add, addItem, addLocation, type Item, stock, succeeded } from '../builders.ts'
import type { TestBusiness } from '../harness/lading.ts'
import { until } from '../harness/npm_start.ts'

export interface NewOrder {
  id: string
  fulfillmentId: string
  item: Item
}

/** A send-orders step for a new location. */
export async function addSendingStep(
  business: TestBusiness,
  fields: object,
  entry: object = {},
): Promise<{ id: string; locationId: string }> {
  const locationId = await addLocation(business)
  const step = await add(business, 'send_orders_steps', {
    warehouse_location_map: [
      { warehouse: 'W1', company: 'Acme', name: 'West', id: '77', zipCode: '10115', locationId, ...entry },
    ],
    ...fields,
  })
  return { id: step.id, locationId }
}

/** An order with a NEW fulfillment at a location where its item is stocked. */
export async function addNewFulfillment(business: TestBusiness, locationId: string, quantity = 3): Promise<NewOrder> {
  const item = await addItem(business)
  await stock(business, item, locationId, 100)
  const order = await add(business, 'orders', {})
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
  return { id: order.id, fulfillmentId: fulfillment.id, item }
}

export interface Activity {
  title: string
  description: string | null
  operation: string
  result: string
}

export const activitiesOf = async (business: TestBusiness, order: { id: string }): Promise<Activity[]> =>
  succeeded(
    await business.rest.get<Activity[]>(
      `/order_activities?select=title,description,operation,result&order_id=eq.${order.id}&order=id`,
    ),
  )

/** NEW, PENDING …, or undefined once the fulfillment is gone. */
export const statusOf = async (business: TestBusiness, order: NewOrder): Promise<string | undefined> =>
  succeeded(
    await business.rest.get<{ status: string }[]>(`/fulfillments?select=status&id=eq.${order.fulfillmentId}`),
  )[0]?.status

export const untilStatus = (
  business: TestBusiness,
  order: NewOrder,
  status: string | undefined,
  milliseconds?: number,
): Promise<void> =>
  until(
    `the fulfillment is ${status ?? 'gone'}`,
    async () => (await statusOf(business, order)) === status,
    milliseconds,
  )
