import { issueApplicationKey, issueKey } from '../../stack/keys.ts'
import type { HttpRequest, Statement } from '../rig/load.ts'
import type { Dataset } from '../rig/rig.ts'

const ITEMS = 1_000
const QUANTITY = 2

export interface OrderToShip {
  fulfillmentId: string
  message: string
}

export interface OrdersToShip {
  businessId: string
  locationId: string
  itemIds: string[]
  applicationKey: string
  key: string
  stepId: string
  orders: OrderToShip[]
}

/** A business with a stocked warehouse and orders whose units are PENDING there, of 1,000 items in turn. */
export const ordersToShip = (name: string, count: number): Dataset<OrdersToShip> => ({
  name,
  seed: async (sql) => {
    const one = async (rows: PromiseLike<{ id: string }[]>): Promise<string> => {
      const [row] = await rows
      if (row === undefined) throw new Error('a row was not inserted')
      return row.id
    }
    const businessId = await one(sql`insert into api.businesses (name) values ('Shipper') returning id`)
    const locationId = await one(
      sql`insert into api.locations (business_id, name) values (${businessId}, 'Warehouse') returning id`,
    )
    const stepId = await one(sql`
      insert into api.process_shipments_steps (business_id, warehouse_location_map)
      values (${businessId}, ${sql.json([{ warehouse: 'W', locationId }])}) returning id`)
    const items = await sql<{ id: string }[]>`
      insert into api.inventory_items (business_id, sku)
      select ${businessId}, 'SKU-' || n from generate_series(1, ${ITEMS}) n returning id`
    await sql`
      select internal.post_to_ledger(array(
        select (${businessId}, ${locationId}, i.id, 'available_to_sell', 'ADJUST', 1000000, 'adjustment', null, null, null)
          ::internal.ledger_entry
        from api.inventory_items i where i.business_id = ${businessId}
      ))`
    await sql`
      insert into api.orders (business_id, purchase_order_number, channel_order_id)
      select ${businessId}, 'PO-' || n, (500000000 + n)::text from generate_series(1, ${count}::integer) n`
    await sql`
      insert into api.order_line_items (business_id, order_id, inventory_item_id, quantity)
      select ${businessId}, o.id, i.id, ${QUANTITY}
      from api.orders o
      join api.inventory_items i
        on i.business_id = ${businessId} and i.sku = 'SKU-' || (1 + substr(o.purchase_order_number, 4)::integer % ${ITEMS})`
    await sql`
      insert into api.fulfillments (business_id, order_id, location_id, status, additional_fields)
      select ${businessId}, o.id, ${locationId}, 'PENDING',
        jsonb_build_object('warehouse_order_id', 'W-' || substr(o.purchase_order_number, 4))
      from api.orders o`
    await sql`
      insert into api.fulfillment_line_items
        (business_id, fulfillment_id, order_line_item_id, inventory_item_id, sku, quantity)
      select ${businessId}, f.id, l.id, l.inventory_item_id, i.sku, l.quantity
      from api.fulfillments f
      join api.order_line_items l on l.order_id = f.order_id
      join api.inventory_items i on i.id = l.inventory_item_id`
    const orders = await sql<{ fulfillment: string; number: string; warehouse_order_id: string; sku: string }[]>`
      select f.id as fulfillment, o.purchase_order_number as number,
        f.additional_fields ->> 'warehouse_order_id' as warehouse_order_id, l.sku
      from api.orders o
      join api.fulfillments f on f.order_id = o.id
      join api.fulfillment_line_items l on l.fulfillment_id = f.id
      order by o.id`
    return {
      businessId,
      locationId,
      stepId,
      itemIds: items.map(({ id }) => id),
      applicationKey: await issueApplicationKey(sql, 'bench'),
      key: await issueKey(sql, 'warehouse', 'bench', businessId),
      orders: orders.map((order) => ({
        fulfillmentId: order.fulfillment,
        message: JSON.stringify({
          orderUpdate: {
            purchaseOrderNumber: order.number,
            fulfillments: [
              {
                additionalFields: [{ name: 'warehouse_order_id', value: order.warehouse_order_id }],
                locationId,
                status: 'OPEN',
                trackingNumber: `1Z${order.number}`,
                trackingUrls: [`https://track.example/1Z${order.number}`],
                shippingCompany: 'UPS',
                shippingMethod: 'Ground',
                shippedAt: '2025-06-02T10:00:00Z',
                lineItems: [{ sku: order.sku, quantity: QUANTITY }],
              },
            ],
          },
        }),
      })),
    }
  },
})

/** The confirmation that an order has shipped in full, as a warehouse posts it. */
export const confirmation = (facts: OrdersToShip, order: OrderToShip): HttpRequest => ({
  method: 'POST',
  path: `/v1/suppliers/${facts.stepId}/callbacks`,
  headers: {
    apikey: facts.applicationKey,
    Authorization: `Bearer ${facts.key}`,
    'Content-Type': 'application/json',
  },
  body: order.message,
})

/** The same as the one SQL call that the sidecar makes of it. */
export const confirmationCall = (facts: OrdersToShip, order: OrderToShip): Statement => ({
  text: 'select internal.receive_callback($1, $2, $3, null, null, $4::text::jsonb) as answer',
  parameters: [facts.applicationKey, `Bearer ${facts.key}`, facts.stepId, order.message],
})

/** A part of the orders, dealt out to connections. */
export const lanesOf = (orders: OrderToShip[], part: number, perLane: number, lanes: number): OrderToShip[][] =>
  Array.from({ length: lanes }, (_, lane) => {
    const from = (part * lanes + lane) * perLane
    const dealt = orders.slice(from, from + perLane)
    if (dealt.length < perLane) throw new Error('there are too few orders')
    return dealt
  })
