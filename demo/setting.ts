import { randomBytes } from 'node:crypto'
import { z } from 'zod'
import type { Connection, Demo } from '../stack/connection.ts'
import { sender } from './http.ts'
import { connectLading, type Lading } from './lading.ts'
import { openToyWarehouse, type ToyWarehouse } from './toy_warehouse.ts'

export const GOODS = ['MUG', 'TEA', 'TEAPOT'] as const
export const PLACES = ['Harbour', 'Hill', 'Shop'] as const

export type Good = (typeof GOODS)[number]
export type Place = (typeof PLACES)[number]

/** Where a day plays: places, goods and a warehouse of its own, so that no run meets what another left. */
export interface Setting {
  lading: Lading
  warehouse: ToyWarehouse
  businessId: string
  /** The end of every name and number of this run. */
  run: string
  channelId: string
  places: Record<Place, string>
  items: Record<Good, string>
  /** The name of a thing in this run: `MUG-3f2a91c4`. */
  name(thing: string): string
  /** A time of the day that is played: yesterday, so that nothing happens in the future. */
  at(clock: string): string
  /** Ends the warehouse; nothing more is sent to it. */
  close(): Promise<void>
}

const withId = z.object({ id: z.string() })

const addAll = async <Name extends string>(names: readonly Name[], add: (name: Name) => Promise<{ id: string }>) =>
  Object.fromEntries(await Promise.all(names.map(async (name) => [name, (await add(name)).id]))) as Record<Name, string>

export async function makeSetting(connection: Connection, demo: Demo, deadline: AbortSignal): Promise<Setting> {
  const { application_key, rest_url } = connection
  const lading = connectLading(rest_url, sender(application_key, demo.business_key, deadline))
  const sendAsWarehouse = sender(application_key, demo.warehouse_key, deadline)
  const business_id = demo.business_id
  const run = randomBytes(4).toString('hex')
  const name = (thing: string) => `${thing}-${run}`
  const yesterday = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10)

  const places = await addAll(PLACES, (place) =>
    lading.add('locations', { business_id, name: name(place), is_virtual: place === 'Shop' }, withId),
  )
  const items = await addAll(GOODS, (good) => lading.add('inventory_items', { business_id, sku: name(good) }, withId))
  const channel = await lading.add('channels', { business_id, name: name('Shop'), location_id: places.Shop }, withId)
  const { callback_url } = await lading.add(
    'process_shipments_steps',
    {
      business_id,
      name: name('Toy warehouse reports'),
      channel_ids: [channel.id],
      virtual_location_id: places.Shop,
      warehouse_location_map: [{ warehouse: 'TOY', locationId: places.Harbour }],
    },
    z.object({ callback_url: z.string() }),
  )
  const warehouse = await openToyWarehouse((message) => sendAsWarehouse('POST', callback_url, message))
  try {
    const step = await lading.add(
      'send_orders_steps',
      {
        business_id,
        name: name('Orders to the toy warehouse'),
        payload_url: warehouse.ordersUrl,
        warehouse_location_map: [
          { warehouse: 'TOY', locationId: places.Harbour },
          { warehouse: 'TOY-2', locationId: places.Hill, webhookUrl: warehouse.jammedUrl },
        ],
      },
      withId,
    )
    return {
      lading,
      warehouse,
      businessId: business_id,
      run,
      channelId: channel.id,
      places,
      items,
      name,
      at: (clock) => `${yesterday}T${clock}:00Z`,
      close: async () => {
        await warehouse.close()
        await lading.change(`send_orders_steps?id=eq.${step.id}`, { is_enabled: false })
      },
    }
  } catch (error) {
    await warehouse.close()
    throw error
  }
}
