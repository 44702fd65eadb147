import { z } from 'zod'
import { StackError } from '../stack/stack_error.ts'
import { openLedger } from './ledger.ts'
import type { Basket } from './orders.ts'
import { printStock, teller } from './print.ts'
import { shipmentsAreReceived, shipmentsComeIn } from './receiving.ts'
import {
  backorderShips,
  ordersAreClosed,
  ordersAreSent,
  ordersArrive,
  warehouseFails,
  warehouseShips,
} from './sales.ts'
import type { Place, Setting } from './setting.ts'

const OPENING: [Place, Basket][] = [
  ['Harbour', { MUG: 100, TEA: 40, TEAPOT: 20 }],
  ['Hill', { TEA: 20 }],
  ['Shop', { MUG: 100, TEA: 60, TEAPOT: 20 }],
]

async function stockIsCounted({ lading, businessId, places, items }: Setting): Promise<void> {
  for (const [place, basket] of OPENING) {
    const adjustments = Object.entries(basket).map(([good, quantity]) => ({
      inventory_item_id: items[good as keyof Basket],
      location_id: places[place],
      inventory_status: 'available_to_sell',
      operation: 'ADJUST',
      quantity,
      memo: 'Opening stock',
    }))
    await lading.call(
      'adjust_inventory',
      { business_id: businessId, adjustments },
      z.object({ adjusted: z.literal(adjustments.length) }),
    )
  }
}

/** A day of orders and shipments. Whatever comes back other than expected ends it with an error. */
export async function playDay(setting: Setting): Promise<void> {
  const { lading, businessId } = setting
  const ledger = openLedger(setting)
  const tell = teller(ledger)

  await stockIsCounted(setting)
  await ledger.news()
  const before = await ledger.stock()
  printStock('The inventory before', before)

  await shipmentsComeIn(setting, tell)
  const orders = await ordersArrive(setting, tell)
  await ordersAreSent(setting, tell, orders)
  await warehouseFails(setting, tell, orders['SO-6'])
  await warehouseShips(setting, tell, orders)
  await shipmentsAreReceived(setting, tell)
  await backorderShips(setting, tell, orders['SO-2'])
  await ordersAreClosed(setting, tell, orders)

  printStock('The inventory after', await ledger.stock(), before)

  const disagreements = await lading.call('verify_inventory', { business_id: businessId }, z.array(z.unknown()))
  if (disagreements.length > 0) {
    throw new StackError(`Ledger and quantities disagree: ${JSON.stringify(disagreements)}`)
  }
  console.log(`${ledger.entries()} entries of the ledger make up these quantities.`)
  console.log('rpc/verify_inventory → [] (ledger and quantities agree)')
}
