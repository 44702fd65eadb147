import { shipmentsToReceive } from './datasets/shipments_to_receive.ts'
import type { Entry } from './rig/entry.ts'
import { type HttpRequest, perSecond } from './rig/load.ts'
import { sideBySide } from './rig/side_by_side.ts'

const MILLISECONDS = 1_500
const WRITERS = 16

const entry: Entry = {
  goal: { atLeast: 0.35 },
  measure: async (rig) => {
    const { upstream, facts } = await rig.lading(shipmentsToReceive('hot_sku', [WRITERS]))
    const skus = facts.shipments.flatMap(({ items }) => items.map(({ sku }) => sku))
    const adjust = (sku: string | undefined): HttpRequest[] => [
      {
        method: 'POST',
        path: '/rpc/adjust_inventory',
        headers: facts.headers,
        body: JSON.stringify({
          business_id: facts.businessId,
          adjustments: [
            {
              sku,
              location_id: facts.locationId,
              inventory_status: 'available_to_sell',
              operation: 'ADJUST',
              quantity: 1,
            },
          ],
        }),
      },
    ]
    const write = async (lanes: HttpRequest[][]) =>
      perSecond(await rig.load({ kind: 'http', target: upstream, lanes, milliseconds: MILLISECONDS }))
    const figures = await sideBySide(5, {
      ours: () => write(skus.map(() => adjust(skus[0]))),
      reference: () => write(skus.map(adjust)),
    })
    return [{ unit: '/s', ...figures, conditions: { writers: WRITERS, path: 'rpc/adjust_inventory over HTTP' } }]
  },
}

export default entry
