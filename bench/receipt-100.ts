import { type ShipmentsToReceive, type ShipmentToReceive, shipmentsToReceive } from './datasets/shipments_to_receive.ts'
import type { Entry } from './rig/entry.ts'
import { insertRows } from './rig/insert_rows.ts'
import type { LoadResult } from './rig/load.ts'
import { perSecond } from './rig/load.ts'
import { receiptRequest } from './rig/receipt_request.ts'
import { sideBySide } from './rig/side_by_side.ts'

const ROUNDS = 9
const RECEIPTS_A_ROUND = 10
const ITEMS = 100
const QUANTITY = 10

/** The rows that the call leaves behind, and nothing else. */
const plainReceipt = ({ businessId, locationId }: ShipmentsToReceive, shipment: ShipmentToReceive) => {
  const receiptId = crypto.randomUUID()
  const time = '2025-06-02T09:30:00Z'
  return [
    insertRows('api.shipment_receipts', [
      {
        id: receiptId,
        shipment_id: shipment.id,
        business_id: businessId,
        received_time: time,
        completed_time: '2025-06-02T10:00:00Z',
        external_ids: { confirmation_id: `R-${shipment.number}` },
      },
    ]),
    insertRows(
      'api.shipment_receipt_items',
      shipment.items.map(({ id }, index) => ({
        business_id: businessId,
        shipment_receipt_id: receiptId,
        inventory_item_id: id,
        quantity: QUANTITY,
        receipt_time: time,
        external_ids: { shipment_line_number: String(index + 1) },
      })),
    ),
    insertRows(
      'api.inventory_adjustments',
      shipment.items.map(({ id }) => ({
        business_id: businessId,
        inventory_item_id: id,
        location_id: locationId,
        inventory_status: 'available_to_sell',
        quantity: QUANTITY,
        quantity_after: QUANTITY,
        cause_type: 'shipment_receipt',
        cause_id: receiptId,
        memo: `Receipt of shipment ${shipment.number}`,
      })),
    ),
    insertRows(
      'internal.inventory_levels',
      shipment.items.map(({ id }) => ({
        business_id: businessId,
        location_id: locationId,
        inventory_item_id: id,
        available_to_sell: QUANTITY,
      })),
    ),
  ]
}

const entry: Entry = {
  goal: { atLeast: 0.5 },
  measure: async (rig) => {
    const dataset = shipmentsToReceive('receipt_100', Array(RECEIPTS_A_ROUND * (ROUNDS + 1)).fill(ITEMS))
    const lading = await rig.lading(dataset)
    const plain = await rig.plain(dataset)
    const ofRound = (round: number) =>
      lading.facts.shipments.slice(round * RECEIPTS_A_ROUND, (round + 1) * RECEIPTS_A_ROUND)
    const figures = await sideBySide(ROUNDS, {
      ours: async (round) => {
        const requests = ofRound(round).map((shipment) =>
          receiptRequest(lading.facts, shipment, { quantity: QUANTITY, isCompleted: true }),
        )
        return perSecond(await rig.load({ kind: 'http', target: lading.upstream, lanes: [requests] }))
      },
      reference: async (round) => {
        const transactions = ofRound(round).map((shipment) => plainReceipt(plain.facts, shipment))
        const result: LoadResult = await rig.load({ kind: 'sql', url: plain.ownerUrl, lanes: [transactions] })
        return perSecond(result)
      },
    })
    return [
      { unit: '/s', ...figures, conditions: { connections: 1, 'receipts a round': RECEIPTS_A_ROUND, items: ITEMS } },
    ]
  },
}

export default entry
