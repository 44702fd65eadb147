import { type ShipmentToReceive, shipmentsToReceive } from './datasets/shipments_to_receive.ts'
import type { Entry } from './rig/entry.ts'
import { receiptRequest } from './rig/receipt_request.ts'
import { sideBySide } from './rig/side_by_side.ts'

const ROUNDS = 3
const FEW = 1_000
const MANY = 10_000

const entry: Entry = {
  goal: { atMost: 11 },
  measure: async (rig) => {
    const counts = [MANY, MANY, FEW, FEW]
    const dataset = shipmentsToReceive(
      'receipt_linear',
      Array(ROUNDS + 1)
        .fill(counts)
        .flat(),
    )
    const { upstream, facts } = await rig.lading(dataset)
    const shipmentOf = (round: number, place: number): ShipmentToReceive => {
      const shipment = facts.shipments[round * counts.length + place]
      if (shipment === undefined) throw new Error('there are too few shipments')
      return shipment
    }
    const post = async (shipment: ShipmentToReceive, receipt: { quantity: number; isCompleted: boolean }) => {
      const lanes = [[receiptRequest(facts, shipment, receipt)]]
      return (await rig.load({ kind: 'http', target: upstream, lanes })).milliseconds
    }
    const update = async (shipment: ShipmentToReceive) => {
      await post(shipment, { quantity: 9, isCompleted: false })
      return post(shipment, { quantity: 10, isCompleted: true })
    }
    const create = (shipment: ShipmentToReceive) => post(shipment, { quantity: 10, isCompleted: true })
    // Two small shipments warm up: large ones take too long for that.
    await create(shipmentOf(ROUNDS, 0))
    await update(shipmentOf(ROUNDS, 1))
    const created = await sideBySide(
      ROUNDS,
      { ours: (round) => create(shipmentOf(round, 0)), reference: (round) => create(shipmentOf(round, 2)) },
      0,
    )
    const updated = await sideBySide(
      ROUNDS,
      { ours: (round) => update(shipmentOf(round, 1)), reference: (round) => update(shipmentOf(round, 3)) },
      0,
    )
    const conditions = { connections: 1, items: `${MANY} against ${FEW}` }
    return [
      { variant: 'new, completed', unit: 'ms', ...created, conditions },
      { variant: 'by external_ids, completed', unit: 'ms', ...updated, conditions },
    ]
  },
}

export default entry
