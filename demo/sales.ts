import {
  type Basket,
  basketText,
  expectStates,
  fulfill,
  fulfillmentIn,
  lastActivity,
  linesOf,
  type Order,
  placeOrder,
  untilSent,
} from './orders.ts'
import type { Tell } from './print.ts'
import type { Setting } from './setting.ts'
import type { Parcel } from './toy_warehouse.ts'

const BASKETS = {
  'SO-1': { MUG: 10, TEAPOT: 2 },
  'SO-2': { MUG: 8, TEA: 5 },
  'SO-3': { TEA: 10 },
  'SO-4': { TEAPOT: 1 },
  'SO-5': { MUG: 1 },
  'SO-6': { TEA: 3 },
} satisfies Record<string, Basket>

type Number = keyof typeof BASKETS
export type Orders = Record<Number, Order>

const numbers = Object.keys(BASKETS) as Number[]
const inUnits = (basket: Basket): string => basketText(basket).replaceAll(', ', ' + ')

export async function ordersArrive(setting: Setting, tell: Tell): Promise<Orders> {
  const orders: Partial<Orders> = {}
  for (const [minute, number] of numbers.entries()) {
    const clock = `09:0${minute}`
    orders[number] = await placeOrder(setting, number, clock, BASKETS[number])
    await tell(clock, number, `ordered: ${basketText(BASKETS[number])}`)
  }
  return orders as Orders
}

const harbourOrders = numbers.filter((number) => number !== 'SO-6')

export async function ordersAreSent(setting: Setting, tell: Tell, orders: Orders): Promise<void> {
  for (const number of harbourOrders) {
    await fulfill(setting, orders[number], 'Harbour', BASKETS[number])
    await tell('09:30', number, 'to be fulfilled at Harbour')
  }
  for (const number of harbourOrders) {
    await untilSent(setting, orders[number])
    const states = await expectStates(setting, orders[number], `PENDING ${inUnits(BASKETS[number])}`)
    const { warehouseOrderId } = await fulfillmentIn(setting, orders[number], 'PENDING')
    await setting.warehouse.acknowledge(warehouseOrderId)
    await tell('09:31', number, `sent and acknowledged: ${states}`)
  }
}

/** The warehouse address of Hill answers 500; Harbour takes over. */
export async function warehouseFails(setting: Setting, tell: Tell, order: Order): Promise<void> {
  await fulfill(setting, order, 'Hill', BASKETS['SO-6'])
  await untilSent(setting, order)
  await expectStates(setting, order, 'none')
  await tell('09:40', order.number, `to be fulfilled at Hill: ${await lastActivity(setting, order)}`)

  await fulfill(setting, order, 'Harbour', BASKETS['SO-6'])
  await untilSent(setting, order)
  await tell('09:45', order.number, `sent to Harbour instead: ${await expectStates(setting, order, 'PENDING 3 TEA')}`)
}

const parcel = (setting: Setting, clock: string, basket: Basket, trackingNumber: string, inParts = false): Parcel => ({
  lines: linesOf(setting, basket),
  trackingNumber,
  shippedAt: setting.at(clock),
  inParts,
})

export async function warehouseShips(setting: Setting, tell: Tell, orders: Orders): Promise<void> {
  const { warehouse } = setting
  const pending = async (number: Number) => (await fulfillmentIn(setting, orders[number], 'PENDING')).warehouseOrderId
  const ship = async (clock: string, number: Number, how: string, sent: Parcel, expected: string) => {
    const sentAs = await pending(number)
    await warehouse.ship(sentAs, sent)
    await tell(clock, number, `shipped ${how}: ${await expectStates(setting, orders[number], expected)}`)
    return sentAs
  }

  const whole = parcel(setting, '11:00', BASKETS['SO-1'], 'T-1')
  const first = await ship('11:00', 'SO-1', 'whole', whole, 'OPEN 10 MUG + 2 TEAPOT')
  await warehouse.repeat(first, whole)
  await tell('11:01', 'SO-1', 'the same message again: 204, nothing changes')

  const short = parcel(setting, '11:30', { MUG: 6, TEA: 5 }, 'T-2')
  await ship('11:30', 'SO-2', 'short', short, 'BACKORDER 2 MUG, OPEN 6 MUG + 5 TEA')

  const part = parcel(setting, '12:00', { TEA: 4 }, 'T-3', true)
  const parts = await ship('12:00', 'SO-3', 'in part', part, 'OPEN 4 TEA, PENDING 6 TEA')

  await warehouse.cancel(await pending('SO-4'), 'Last one is scratched')
  await expectStates(setting, orders['SO-4'], 'CANCELED 1 TEAPOT')
  await tell('12:30', 'SO-4', `canceled: ${await lastActivity(setting, orders['SO-4'])}`)

  await warehouse.refuse(await pending('SO-5'), 'We do not ship to Troy')
  await expectStates(setting, orders['SO-5'], 'none')
  await tell('12:45', 'SO-5', `refused, on hold: ${await lastActivity(setting, orders['SO-5'])}`)

  await warehouse.ship(parts, parcel(setting, '13:00', { TEA: 6 }, 'T-4', true))
  await tell(
    '13:00',
    'SO-3',
    `shipped the rest: ${await expectStates(setting, orders['SO-3'], 'OPEN 4 TEA, OPEN 6 TEA')}`,
  )

  await ship('13:15', 'SO-6', 'whole', parcel(setting, '13:15', BASKETS['SO-6'], 'T-5'), 'OPEN 3 TEA')
}

/** What was short is sent again, now that it has come in. */
export async function backorderShips(setting: Setting, tell: Tell, order: Order): Promise<void> {
  const backorder = await fulfillmentIn(setting, order, 'BACKORDER')
  await setting.lading.change(`fulfillments?id=eq.${backorder.id}`, { status: 'NEW' })
  await untilSent(setting, order)
  await tell(
    '15:00',
    order.number,
    `sent again: ${await expectStates(setting, order, 'OPEN 6 MUG + 5 TEA, PENDING 2 MUG')}`,
  )
  await setting.warehouse.ship(backorder.warehouseOrderId, parcel(setting, '15:30', { MUG: 2 }, 'T-6'))
  await tell('15:30', order.number, `shipped: ${await expectStates(setting, order, 'OPEN 2 MUG, OPEN 6 MUG + 5 TEA')}`)
}

export async function ordersAreClosed(setting: Setting, tell: Tell, orders: Orders): Promise<void> {
  const close = async (closed: Number[], status: 'closed' | 'canceled') => {
    await setting.lading.change(`orders?id=in.(${closed.map((number) => orders[number].id)})`, { status })
    await tell('17:00', 'orders', `${status}: ${closed.join(', ')}`)
  }
  await close(['SO-1', 'SO-2', 'SO-3', 'SO-6'], 'closed')
  await close(['SO-4'], 'canceled')
}
