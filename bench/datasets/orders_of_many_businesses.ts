import { issueApplicationKey, issueKey } from '../../stack/keys.ts'
import type { HttpRequest } from '../rig/load.ts'
import type { Dataset } from '../rig/rig.ts'

export const BUSINESSES = 100
export const ORDERS = 200_000
const CALLERS = 16
const KNOWN_ORDERS = 500

export interface Caller {
  businessId: string
  headers: HttpRequest['headers']
  /** Some of the business's orders, anywhere in the table. */
  orderIds: string[]
}

/** 200,000 orders over 100 businesses, in the table as they came in: each next one of another business. */
export const ordersOfManyBusinesses: Dataset<{ callers: Caller[] }> = {
  name: 'orders_of_many_businesses',
  seed: async (sql) => {
    const businesses = await sql<{ id: string }[]>`
      insert into api.businesses (name, alphabetic_currency_code)
      select 'Business ' || n, 'EUR' from generate_series(1, ${BUSINESSES}) n
      returning id`
    const ids = businesses.map(({ id }) => id)
    await sql`
      insert into api.orders (
        business_id, purchase_order_number, channel_order_id, status, currency_code, subtotal_price, total_price,
        total_shipping_price, total_tax, total_grams, purchased_time, external_ids, additional_fields, creation_time
      )
      select
        (${ids}::uuid[])[1 + n % ${BUSINESSES}], 'PO-' || n, (500000000 + n)::text,
        (array['open', 'in_progress', 'closed', 'closed', 'closed'])[1 + n % 5]::api.order_status, 'EUR',
        1000 + n % 9000, 1500 + n % 9000, 500, 190, 250 + n % 5000, created,
        jsonb_build_object('shop', 'gid-' || n), jsonb_build_object('gift', n % 7 = 0, 'source', 'web'), created
      from generate_series(1, ${ORDERS}) n
      cross join lateral (select now() - (${ORDERS} - n) * interval '30 seconds') t (created)`
    const applicationKey = await issueApplicationKey(sql, 'bench')
    const callers = await Promise.all(
      ids.slice(0, CALLERS).map(async (businessId): Promise<Caller> => {
        const key = await issueKey(sql, 'business', 'bench', businessId)
        const orders = await sql<{ id: string }[]>`
          select id from api.orders where business_id = ${businessId} order by md5(id::text) limit ${KNOWN_ORDERS}`
        return {
          businessId,
          headers: { apikey: applicationKey, Authorization: `Bearer ${key}` },
          orderIds: orders.map(({ id }) => id),
        }
      }),
    )
    return { callers }
  },
}
