import { z } from 'zod'
import { StackError } from '../stack/stack_error.ts'
import { type Basket, basketText, linesOf } from './orders.ts'
import type { Tell } from './print.ts'
import type { Setting } from './setting.ts'

interface Arrival {
  good: Basket
  /** There, but not to be sold. */
  broken?: Basket
}

const receiptAnswer = z.object({
  receipts: z.tuple([
    z.object({
      completed_time: z.string().nullable(),
      discrepancies: z.array(z.object({ shipped: z.int(), received: z.int() })),
    }),
  ]),
})

async function shipmentComesIn(setting: Setting, tell: Tell, clock: string, number: string, basket: Basket) {
  const { lading, businessId, places, name, at } = setting
  const shipment = {
    business_id: businessId,
    shipment_number: name(number),
    status: 'shipped',
    shipped_time: at(clock),
    carrier: 'Ocean Freight',
    to_location: { id: places.Harbour },
    items: linesOf(setting, basket),
  }
  await lading.call('upsert_shipments_full', { shipment }, z.object({ status: z.literal('shipped') }))
  await tell(clock, number, `on its way to Harbour: ${basketText(basket)}`)
}

/** A receipt as one call, with all that arrived; completing it moves the inventory. */
const receipt = (setting: Setting, clock: string, number: string, { good, broken = {} }: Arrival) => {
  const receipt_time = setting.at(clock)
  const items = (basket: Basket, available: boolean) =>
    linesOf(setting, basket).map((line) => ({ ...line, receipt_time, available }))
  return {
    shipment_receipts_full: {
      business_id: setting.businessId,
      shipment_number: setting.name(number),
      receipts: [
        {
          received_time: receipt_time,
          completed_time: receipt_time,
          external_ids: { confirmation_id: setting.name(`R-${number}`) },
          items: [...items(good, true), ...items(broken, false)],
        },
      ],
    },
  }
}

export async function shipmentsComeIn(setting: Setting, tell: Tell): Promise<void> {
  await shipmentComesIn(setting, tell, '08:10', 'IN-1', { MUG: 24 })
  await shipmentComesIn(setting, tell, '08:20', 'IN-2', { TEAPOT: 12 })
}

export async function shipmentsAreReceived(setting: Setting, tell: Tell): Promise<void> {
  const { lading } = setting
  const receive = async (clock: string, number: string, arrival: Arrival) =>
    (await lading.call('upsert_shipment_receipts_full', receipt(setting, clock, number, arrival), receiptAnswer))
      .receipts[0].discrepancies

  const [discrepancy] = await receive('14:00', 'IN-1', { good: { MUG: 26 } })
  if (discrepancy?.shipped !== 24 || discrepancy.received !== 26) {
    throw new StackError('IN-1: two more than were shipped are not listed as a discrepancy')
  }
  await tell('14:00', 'IN-1', 'received: 26 MUG; discrepancy: 24 were shipped')

  await receive('14:15', 'IN-2', { good: { TEAPOT: 10 }, broken: { TEAPOT: 2 } })
  await tell('14:15', 'IN-2', 'received: 10 TEAPOT, and 2 TEAPOT with broken lids')

  const refusal = await lading.refused(
    'upsert_shipment_receipts_full',
    receipt(setting, '14:30', 'IN-2', { good: { TEAPOT: 12 } }),
  )
  await tell('14:30', 'IN-2', `received once more: 400, ${refusal}`)
}
