import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Demo } from './connection.ts'
import type { Sql } from './database.ts'
import { issueKey } from './keys.ts'

type DemoRecords = Omit<Demo, 'business_key' | 'warehouse_key'>

const find = async (sql: Sql): Promise<DemoRecords | undefined> => {
  const [records] = await sql<DemoRecords[]>`
    select
      business.id as business_id,
      channel.id as channel_id,
      array(
        select id::text from api.locations
        where business_id = business.id and not is_virtual order by name
      ) as warehouse_location_ids,
      channel.location_id as virtual_location_id,
      array(select sku from api.inventory_items where business_id = business.id order by sku) as skus,
      'DEMO-1000' as shipment_number,
      'DEMO-PO-1' as purchase_order_number
    from api.businesses business
    join api.channels channel on channel.business_id = business.id
    where business.name = 'Lading Demo' and channel.name = 'Online Store'
    order by business.id
    limit 1`
  return records
}

/** The demo business with new keys; its records are made where they are missing. */
export async function makeDemo(sql: Sql): Promise<Demo> {
  let records = await find(sql)
  if (records === undefined) {
    await sql.unsafe(await readFile(join(import.meta.dirname, 'demo.sql'), 'utf8'))
    records = await find(sql)
  }
  if (records === undefined) throw new Error('demo.sql made no demo business')
  return {
    ...records,
    business_key: await issueKey(sql, 'business', 'Demo', records.business_id),
    warehouse_key: await issueKey(sql, 'warehouse', 'Demo warehouse', records.business_id),
  }
}
