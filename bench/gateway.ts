import { ORDERS, ordersOfManyBusinesses } from './datasets/orders_of_many_businesses.ts'
import { readOneLanes } from './read-one.ts'
import type { Entry } from './rig/entry.ts'
import { perSecond } from './rig/load.ts'
import { sideBySide } from './rig/side_by_side.ts'

const MILLISECONDS = 1_200

const entry: Entry = {
  goal: { atLeast: 0.75 },
  measure: async (rig) => {
    const { gateway, upstream, facts } = await rig.lading(ordersOfManyBusinesses)
    const get = async (target: string, prefix: string) =>
      perSecond(
        await rig.load({
          kind: 'http',
          target,
          lanes: readOneLanes(facts.callers, prefix),
          milliseconds: MILLISECONDS,
        }),
      )
    const figures = await sideBySide(5, {
      ours: () => get(gateway, '/rest/v1'),
      reference: () => get(upstream, ''),
    })
    return [{ unit: '/s', ...figures, conditions: { connections: facts.callers.length, orders: ORDERS } }]
  },
}

export default entry
