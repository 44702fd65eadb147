import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import { StackError } from '../stack/stack_error.ts'
import type { Good, Place, Setting } from './setting.ts'

export type Basket = Partial<Record<Good, number>>

export interface Order {
  id: string
  number: string
}

const withId = z.object({ id: z.string() })
const found = z.array(
  z.object({
    id: z.string(),
    status: z.string(),
    additional_fields: z.object({ warehouse_order_id: z.string() }).nullable(),
    fulfillment_line_items: z.array(z.object({ sku: z.string(), quantity: z.int() })),
  }),
)

export const basketText = (basket: Basket): string =>
  Object.entries(basket)
    .map(([good, quantity]) => `${quantity} ${good}`)
    .join(', ')

export const linesOf = ({ name }: Setting, basket: Basket) =>
  Object.entries(basket).map(([good, quantity]) => ({ sku: name(good), quantity }))

export async function placeOrder(setting: Setting, number: string, clock: string, basket: Basket): Promise<Order> {
  const { lading, businessId, channelId, name, at } = setting
  const order = {
    business_id: businessId,
    channel_id: channelId,
    channel_order_id: name(number),
    purchase_order_number: name(number),
    currency_code: 'USD',
    purchased_time: at(clock),
    customer: { first_name: 'Ada', last_name: 'Byron', external_ids: { shop: name(number) } },
    address_to: { address_1: '1 Main St', city: 'Troy', province_code: 'NY', postal_code: '12180', country_code: 'US' },
    line_items: linesOf(setting, basket).map((line) => ({ ...line, external_ids: { line: line.sku } })),
  }
  return { id: (await lading.call('upsert_orders_full', { order }, withId)).id, number }
}

export async function fulfill(setting: Setting, order: Order, place: Place, basket: Basket): Promise<string> {
  const fulfillment = {
    order_id: order.id,
    location_id: setting.places[place],
    line_items: linesOf(setting, basket),
  }
  return (await setting.lading.call('create_fulfillment', { fulfillment }, withId)).id
}

const fulfillmentsOf = ({ lading }: Setting, order: Order) =>
  lading.get(
    `fulfillments?select=id,status,additional_fields,fulfillment_line_items(sku,quantity)&order_id=eq.${order.id}&order=id`,
    found,
  )

/** The one fulfillment of an order in a state, once it has been sent. */
export async function fulfillmentIn(
  setting: Setting,
  order: Order,
  status: string,
): Promise<{ id: string; warehouseOrderId: string }> {
  const [first, ...others] = (await fulfillmentsOf(setting, order)).filter((each) => each.status === status)
  if (!first?.additional_fields || others.length > 0) {
    throw new StackError(`${order.number}: not exactly one fulfillment is ${status} and was sent`)
  }
  return { id: first.id, warehouseOrderId: first.additional_fields.warehouse_order_id }
}

/** All fulfillments of an order in brief, `OPEN 6 MUG + 5 TEA, BACKORDER 2 MUG`. */
export async function statesOf(setting: Setting, order: Order): Promise<string> {
  const fulfillments = await fulfillmentsOf(setting, order)
  const states = fulfillments.map(({ status, fulfillment_line_items: lines }) => {
    const units = lines
      .toSorted((one, other) => (one.sku < other.sku ? -1 : 1))
      .map(({ sku, quantity }) => `${quantity} ${sku.replace(`-${setting.run}`, '')}`)
    return `${status} ${units.join(' + ')}`
  })
  return states.length === 0 ? 'none' : states.sort().join(', ')
}

export async function expectStates(setting: Setting, order: Order, expected: string): Promise<string> {
  const states = await statesOf(setting, order)
  if (states !== expected) {
    throw new StackError(`${order.number}: its fulfillments are ${states}; expected was ${expected}`)
  }
  return states
}

export async function lastActivity({ lading }: Setting, order: Order): Promise<string> {
  const activities = await lading.get(
    `order_activities?select=title,result,description&order_id=eq.${order.id}&order=id.desc&limit=1`,
    z.array(z.object({ title: z.string(), result: z.string(), description: z.string().nullable() })),
  )
  const [last] = activities
  if (last === undefined) throw new StackError(`${order.number}: has no activity`)
  return `${last.title} ${last.result} (${last.description?.replaceAll(/\s*\n\s*/g, ', ') ?? ''})`
}

const POLL_MILLISECONDS = 50
const SEND_MILLISECONDS = 8_000

/** Waits until the worker has sent what is NEW of an order. */
export async function untilSent(setting: Setting, order: Order): Promise<void> {
  const giveUp = Date.now() + SEND_MILLISECONDS
  while ((await statesOf(setting, order)).includes('NEW')) {
    if (Date.now() > giveUp) {
      throw new StackError(`${order.number}: was not sent within ${SEND_MILLISECONDS / 1_000} s. Does the worker run?`)
    }
    await sleep(POLL_MILLISECONDS)
  }
}
