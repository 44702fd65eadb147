import { type Caller, ORDERS, ordersOfManyBusinesses } from './datasets/orders_of_many_businesses.ts'
import type { Entry } from './rig/entry.ts'
import { type HttpRequest, perSecond } from './rig/load.ts'
import { sideBySide } from './rig/side_by_side.ts'

const MILLISECONDS = 1_200

export const readOneLanes = (callers: Caller[], prefix = ''): HttpRequest[][] =>
  callers.map(({ headers, orderIds }) =>
    orderIds.map((id) => ({ method: 'GET', path: `${prefix}/orders?id=eq.${id}`, headers })),
  )

const entry: Entry = {
  goal: { atLeast: 0.8 },
  measure: async (rig) => {
    const lading = await rig.lading(ordersOfManyBusinesses)
    const plain = await rig.plain(ordersOfManyBusinesses)
    const { callers } = lading.facts
    const anonymous = callers.map((caller) => ({ ...caller, headers: {} }))
    const get = async (target: string, lanes: HttpRequest[][]) =>
      perSecond(await rig.load({ kind: 'http', target, lanes, milliseconds: MILLISECONDS }))
    const figures = await sideBySide(5, {
      ours: () => get(lading.upstream, readOneLanes(callers)),
      reference: () => get(plain.upstream, readOneLanes(anonymous)),
    })
    return [{ unit: '/s', ...figures, conditions: { connections: callers.length, orders: ORDERS } }]
  },
}

export default entry
