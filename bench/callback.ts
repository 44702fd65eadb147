import { confirmation, confirmationCall, lanesOf, ordersToShip } from './datasets/orders_to_ship.ts'
import type { Entry } from './rig/entry.ts'
import { perSecond } from './rig/load.ts'
import { sideBySide } from './rig/side_by_side.ts'

const ROUNDS = 5
const CONNECTIONS = 16
const ORDERS_A_CONNECTION = 60

const ORDERS = (ROUNDS + 1) * 2 * CONNECTIONS * ORDERS_A_CONNECTION

const entry: Entry = {
  goal: { atLeast: 0.7 },
  measure: async (rig) => {
    const { gateway, authenticatorUrl, facts } = await rig.lading(ordersToShip('callback', ORDERS))
    const part = (number: number) => lanesOf(facts.orders, number, ORDERS_A_CONNECTION, CONNECTIONS)
    const figures = await sideBySide(ROUNDS, {
      ours: async (round) => {
        const lanes = part(2 * round).map((lane) => lane.map((order) => confirmation(facts, order)))
        return perSecond(await rig.load({ kind: 'http', target: gateway, lanes }))
      },
      reference: async (round) => {
        const lanes = part(2 * round + 1).map((lane) => lane.map((order) => [confirmationCall(facts, order)]))
        return perSecond(await rig.load({ kind: 'sql', url: authenticatorUrl, lanes }))
      },
    })
    return [
      {
        unit: '/s',
        ...figures,
        conditions: { connections: CONNECTIONS, 'orders a round': CONNECTIONS * ORDERS_A_CONNECTION },
      },
    ]
  },
}

export default entry
