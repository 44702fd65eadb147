import type { Dataset } from '../rig/rig.ts'

export interface Batch {
  stepId: string
  fulfillmentIds: string[]
  /** What the warehouse is sent for each. */
  bodies: string[]
}

/** Batches of orders with a NEW fulfillment each, every batch at a location of its own whose step is not enabled yet. */
export const ordersToSend = (batches: number, orders: number, payloadUrl: string): Dataset<{ batches: Batch[] }> => ({
  name: 'orders_to_send',
  seed: async (sql) => {
    const one = async (rows: PromiseLike<{ id: string }[]>): Promise<string> => {
      const [row] = await rows
      if (row === undefined) throw new Error('a row was not inserted')
      return row.id
    }
    const businessId = await one(sql`insert into api.businesses (name) values ('Sender') returning id`)
    const addressId = await one(sql`
      insert into api.addresses (business_id, name, address_1, city, province_code, postal_code, country_code)
      values (${businessId}, 'Ann Example', '1 Main Street', 'Springfield', 'IL', '62701', 'US') returning id`)
    const customerId = await one(sql`
      insert into api.customers (business_id, first_name, last_name, email, shipping_address_id, billing_address_id)
      values (${businessId}, 'Ann', 'Example', 'ann@example.com', ${addressId}, ${addressId}) returning id`)
    const itemId = await one(
      sql`insert into api.inventory_items (business_id, sku, title) values (${businessId}, 'MUG', 'Mug') returning id`,
    )
    const made: Batch[] = []
    for (let batch = 0; batch < batches; batch += 1) {
      const locationId = await one(
        sql`insert into api.locations (business_id, name) values (${businessId}, ${`West ${batch}`}) returning id`,
      )
      const stepId = await one(sql`
        insert into api.send_orders_steps (business_id, payload_url, is_enabled, warehouse_location_map)
        values (${businessId}, ${payloadUrl}, false, ${sql.json([{ warehouse: 'W', locationId }])}) returning id`)
      const ids = await sql<{ id: string }[]>`
        insert into api.orders (business_id, customer_id, channel_order_id)
        select ${businessId}, ${customerId}, ${batch}::text || '-' || n
        from generate_series(1, ${orders}::integer) n
        returning id`
      const orderIds = ids.map(({ id }) => id)
      await sql`
        insert into api.order_line_items (business_id, order_id, inventory_item_id, quantity)
        select ${businessId}, id, ${itemId}, 2 from unnest(${orderIds}::uuid[]) id`
      const fulfillments = await sql<{ id: string }[]>`
        insert into api.fulfillments (business_id, order_id, location_id)
        select ${businessId}, id, ${locationId} from unnest(${orderIds}::uuid[]) id
        returning id`
      const fulfillmentIds = fulfillments.map(({ id }) => id)
      await sql`
        insert into api.fulfillment_line_items
          (business_id, fulfillment_id, order_line_item_id, inventory_item_id, sku, quantity)
        select ${businessId}, f.id, l.id, ${itemId}, 'MUG', 2
        from api.fulfillments f
        join api.order_line_items l on l.order_id = f.order_id
        where f.id = any (${fulfillmentIds}::uuid[])`
      await sql`update api.send_orders_steps set is_enabled = true where id = ${stepId}`
      const payloads = await sql<{ body: string }[]>`
        select payload::text as body from internal.send_order_payloads(${fulfillmentIds}::uuid[])`
      await sql`update api.send_orders_steps set is_enabled = false where id = ${stepId}`
      made.push({ stepId, fulfillmentIds, bodies: payloads.map(({ body }) => body) })
    }
    return { batches: made }
  },
})
