import { ORDERS, ordersOfManyBusinesses } from './datasets/orders_of_many_businesses.ts'
import { readOneLanes } from './read-one.ts'
import type { Entry } from './rig/entry.ts'
import { perSecond } from './rig/load.ts'
import { sideBySide } from './rig/side_by_side.ts'

const MILLISECONDS = 1_200
const ROUNDS = 5

const entry: Entry = {
  goal: { atLeast: 0.75 },
  measure: async (rig) => {
    const { gateway, upstream, upstreamOnPort, facts } = await rig.lading(ordersOfManyBusinesses)
    const onPort = await upstreamOnPort()
    const get = async (target: string, prefix = '') =>
      perSecond(
        await rig.load({
          kind: 'http',
          target,
          lanes: readOneLanes(facts.callers, prefix),
          milliseconds: MILLISECONDS,
        }),
      )
    const through = () => get(gateway, '/rest/v1')
    const conditions = { connections: facts.callers.length, orders: ORDERS }
    const againstSocket = await sideBySide(ROUNDS, { ours: through, reference: () => get(upstream) })
    const againstPort = await sideBySide(ROUNDS, { ours: through, reference: () => get(onPort) })
    return [
      {
        unit: '/s',
        ...againstSocket,
        conditions: { ...conditions, direct: 'over the unix socket, as read-one; the gateway is reached over TCP' },
      },
      // The client reaches both sides alike.
      { variant: 'direct over TCP too', unit: '/s', ...againstPort, conditions },
    ]
  },
}

export default entry
