import { confirmation, lanesOf, ordersToShip } from './datasets/orders_to_ship.ts'
import type { Entry } from './rig/entry.ts'
import { perSecond } from './rig/load.ts'
import { sideBySide } from './rig/side_by_side.ts'

const ROUNDS = 5
const CONNECTIONS = 16
const ORDERS_A_CONNECTION = 60
const UPDATES_MILLISECONDS = 1_500

const ORDERS = (ROUNDS + 1) * CONNECTIONS * ORDERS_A_CONNECTION

const entry: Entry = {
  goal: { atLeast: 0.08 },
  measure: async (rig) => {
    const dataset = ordersToShip('callback_limit', ORDERS)
    const { gateway, facts } = await rig.lading(dataset)
    const plain = await rig.plain(dataset)
    const updates = Array.from({ length: CONNECTIONS }, (_, lane) =>
      facts.itemIds
        .filter((_, number) => number % CONNECTIONS === lane)
        .map((item) => [
          {
            text: `update internal.inventory_levels set available_to_sell = available_to_sell - 1
              where business_id = $1 and location_id = $2 and inventory_item_id = $3`,
            parameters: [facts.businessId, facts.locationId, item],
          },
        ]),
    )
    const figures = await sideBySide(ROUNDS, {
      ours: async (round) => {
        const lanes = lanesOf(facts.orders, round, ORDERS_A_CONNECTION, CONNECTIONS)
        return perSecond(
          await rig.load({
            kind: 'http',
            target: gateway,
            lanes: lanes.map((lane) => lane.map((order) => confirmation(facts, order))),
          }),
        )
      },
      reference: async () =>
        perSecond(
          await rig.load({ kind: 'sql', url: plain.ownerUrl, lanes: updates, milliseconds: UPDATES_MILLISECONDS }),
        ),
    })
    return [{ unit: '/s', ...figures, conditions: { connections: CONNECTIONS, reference: 'one-row UPDATEs by key' } }]
  },
}

export default entry
