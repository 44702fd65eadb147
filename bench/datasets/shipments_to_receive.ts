import type { Sql } from '../../stack/database.ts'
import { issueApplicationKey, issueKey } from '../../stack/keys.ts'
import type { HttpRequest } from '../rig/load.ts'
import type { Dataset } from '../rig/rig.ts'

export interface ShipmentToReceive {
  id: string
  number: string
  items: { id: string; sku: string }[]
}

export interface ShipmentsToReceive {
  businessId: string
  locationId: string
  headers: HttpRequest['headers']
  /** By number of items, in the order asked for. */
  shipments: ShipmentToReceive[]
}

const addShipment = async (
  sql: Sql,
  place: { businessId: string; locationId: string },
  number: string,
  itemCount: number,
): Promise<ShipmentToReceive> => {
  const items = await sql<{ id: string; sku: string }[]>`
    insert into api.inventory_items (business_id, sku, title)
    select ${place.businessId}, ${number} || '-' || lpad(n::text, 5, '0'), 'Item ' || n
    from generate_series(1, ${itemCount}::integer) n
    returning id, sku`
  const [shipment] = await sql<{ id: string }[]>`
    insert into api.shipments (business_id, shipment_number, location_to)
    values (${place.businessId}, ${number}, ${place.locationId})
    returning id`
  if (shipment === undefined) throw new Error('the shipment was not inserted')
  await sql`
    insert into api.shipment_items (business_id, shipment_id, inventory_item_id, quantity)
    select ${place.businessId}, ${shipment.id}, item, 10 from unnest(${items.map(({ id }) => id)}::uuid[]) item`
  return { id: shipment.id, number, items: [...items] }
}

/** A business with a shipment for each number of items, every shipment with items that are not stocked yet. */
export const shipmentsToReceive = (name: string, itemCounts: number[]): Dataset<ShipmentsToReceive> => ({
  name,
  seed: async (sql) => {
    const [business] = await sql<{ id: string }[]>`insert into api.businesses (name) values ('Receiver') returning id`
    if (business === undefined) throw new Error('the business was not inserted')
    const [location] = await sql<{ id: string }[]>`
      insert into api.locations (business_id, name) values (${business.id}, 'Warehouse') returning id`
    if (location === undefined) throw new Error('the location was not inserted')
    const place = { businessId: business.id, locationId: location.id }
    const shipments: ShipmentToReceive[] = []
    for (const [index, count] of itemCounts.entries()) {
      shipments.push(await addShipment(sql, place, `S${index}`, count))
    }
    const headers = {
      apikey: await issueApplicationKey(sql, 'bench'),
      Authorization: `Bearer ${await issueKey(sql, 'business', 'bench', business.id)}`,
      'Content-Type': 'application/json',
    }
    return { ...place, headers, shipments }
  },
})
