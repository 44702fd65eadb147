import { z } from 'zod'
import { GOODS, type Good, PLACES, type Place, type Setting } from './setting.ts'

const adjustments = z.array(
  z.object({
    id: z.string(),
    inventory_item_id: z.string(),
    location_id: z.string(),
    inventory_status: z.string(),
    quantity: z.int(),
  }),
)

type Adjustment = z.infer<typeof adjustments>[number]

const quantities = z.array(
  z.object({
    inventory_item_id: z.string(),
    location_id: z.string(),
    available_to_sell: z.int(),
    committed: z.int(),
    unavailable: z.int(),
    incoming: z.int(),
    on_hand: z.int(),
  }),
)

type Quantities = z.infer<typeof quantities>[number]

export interface Stock extends Quantities {
  place: Place
  good: Good
}

const everywhere = PLACES.flatMap((place) => GOODS.map((good) => ({ place, good })))

const signed = (quantity: number): string => (quantity > 0 ? `+${quantity}` : `−${-quantity}`)

/** The inventory of this run, and what its ledger has gained since it was last read. */
export function openLedger({ lading, items, places }: Setting) {
  const seen = new Set<string>()
  const changeText = ({ inventory_status, quantity }: Adjustment) =>
    `${inventory_status.replace('available_to_sell', 'to sell')} ${signed(quantity)}`
  const isOf =
    (place: Place, good: Good) =>
    (row: { location_id: string; inventory_item_id: string }): boolean =>
      row.location_id === places[place] && row.inventory_item_id === items[good]
  const ofThisRun = `inventory_item_id=in.(${Object.values(items)})`

  return {
    /** One line for each item and place: `Harbour MUG: to sell −10, committed −10`. */
    async news(): Promise<string[]> {
      const entries = await lading.get(`inventory_adjustments?${ofThisRun}&order=inventory_status,id`, adjustments)
      const fresh = entries.filter(({ id }) => !seen.has(id))
      for (const { id } of fresh) seen.add(id)
      return everywhere.flatMap(({ place, good }) => {
        const changes = fresh.filter(isOf(place, good)).map(changeText)
        return changes.length === 0 ? [] : `${place} ${good}: ${changes.join(', ')}`
      })
    },

    async stock(): Promise<Stock[]> {
      const rows = await lading.get(`inventory_quantities?${ofThisRun}`, quantities)
      return everywhere.flatMap(({ place, good }) =>
        rows.filter(isOf(place, good)).map((row) => ({ ...row, place, good })),
      )
    },

    entries: () => seen.size,
  }
}

export type Ledger = ReturnType<typeof openLedger>
