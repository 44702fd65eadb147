import { BUSINESSES, ORDERS, ordersOfManyBusinesses } from './datasets/orders_of_many_businesses.ts'
import type { Entry } from './rig/entry.ts'
import { type HttpRequest, perSecond } from './rig/load.ts'
import { sideBySide } from './rig/side_by_side.ts'

const MILLISECONDS = 1_200
const newest = 'order=creation_time.desc&limit=25'

const entry: Entry = {
  goal: { atLeast: 0.8 },
  measure: async (rig) => {
    const lading = await rig.lading(ordersOfManyBusinesses)
    const plain = await rig.plain(ordersOfManyBusinesses)
    const { callers } = lading.facts
    // The key names the business; without one the query has to, to get the same 25 rows.
    const ours = callers.map(({ headers }): HttpRequest[] => [{ method: 'GET', path: `/orders?${newest}`, headers }])
    const reference = callers.map(({ businessId }): HttpRequest[] => [
      { method: 'GET', path: `/orders?business_id=eq.${businessId}&${newest}`, headers: {} },
    ])
    const get = async (target: string, lanes: HttpRequest[][]) =>
      perSecond(await rig.load({ kind: 'http', target, lanes, milliseconds: MILLISECONDS }))
    const figures = await sideBySide(5, {
      ours: () => get(lading.upstream, ours),
      reference: () => get(plain.upstream, reference),
    })
    return [
      { unit: '/s', ...figures, conditions: { connections: callers.length, orders: ORDERS, businesses: BUSINESSES } },
    ]
  },
}

export default entry
