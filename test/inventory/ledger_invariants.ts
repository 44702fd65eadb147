import { expect } from 'vitest'
import type { Sql } from '../../stack/database.ts'

/** What must hold of a business's ledger whatever was done, read as the owner; each query finds what breaks it. */
const breaches = {
  'ledger sums equal the current quantities': `
    select * from internal.verify_all_inventory($1)`,
  'quantity_after is the sum of the entries so far, in the order written': `
    select * from (
      select id, inventory_status, quantity_after, sum(quantity) over (
        partition by location_id, inventory_item_id, inventory_status order by id
      ) as so_far
      from api.inventory_adjustments where business_id = $1
    ) entry
    where quantity_after <> so_far`,
  'committed and incoming never were negative': `
    select * from api.inventory_adjustments
    where business_id = $1 and inventory_status in ('committed', 'incoming') and quantity_after < 0`,
  'on_hand and available_to_promise are derived': `
    select * from api.inventory_quantities
    where business_id = $1
      and (on_hand, available_to_promise)
        <> (available_to_sell + on_hold + unavailable, available_to_sell - committed - reserve)`,
  'a completed receipt is booked once per item and status, with what it holds': `
    select * from (
      select receipt.id, item.inventory_item_id, item.available, sum(item.quantity) as received, (
        select array_agg(entry.quantity) from api.inventory_adjustments entry
        where entry.cause_id = receipt.id and entry.inventory_item_id = item.inventory_item_id
          and entry.inventory_status
            = (case when item.available then 'available_to_sell' else 'unavailable' end)::api.inventory_status
      ) as booked
      from api.shipment_receipts receipt
      join api.shipment_receipt_items item on item.shipment_receipt_id = receipt.id
      where receipt.business_id = $1 and receipt.completed_time is not null
      group by receipt.id, item.inventory_item_id, item.available
    ) receipt
    where booked is distinct from array[received]`,
  'an open receipt, or one that is gone, has booked nothing': `
    select entry.* from api.inventory_adjustments entry
    left join api.shipment_receipts receipt on receipt.id = entry.cause_id
    where entry.business_id = $1 and entry.cause_type = 'shipment_receipt' and receipt.completed_time is null`,
  'a shipment has left location_from as often as its state says': `
    select * from (
      select shipment.id, shipment.status, line.inventory_item_id,
        case when shipment.status = 'shipped' then -line.quantity end as to_be, (
          select sum(entry.quantity) from api.inventory_adjustments entry
          where entry.cause_id = shipment.id and entry.inventory_item_id = line.inventory_item_id
            and entry.inventory_status = 'available_to_sell' and entry.location_id = shipment.location_from
        ) as booked
      from api.shipments shipment
      join (
        select shipment_id, inventory_item_id, sum(quantity) as quantity from api.shipment_items group by 1, 2
      ) line on line.shipment_id = shipment.id
      where shipment.business_id = $1 and shipment.location_from is not null
    ) shipment
    where status in ('shipped', 'unshipped', 'canceled') and coalesce(booked, 0) <> coalesce(to_be, 0)`,
  'an open receipt of a closed shipment': `
    select * from api.shipments shipment
    join api.shipment_receipts receipt on receipt.shipment_id = shipment.id
    where shipment.business_id = $1 and shipment.status = 'closed' and receipt.completed_time is null`,
  'a completed receipt of a canceled shipment': `
    select * from api.shipments shipment
    join api.shipment_receipts receipt on receipt.shipment_id = shipment.id
    where shipment.business_id = $1 and shipment.status = 'canceled' and receipt.completed_time is not null`,
}

/** Where nobody adjusted by hand, what is incoming and committed can be told from the records alone. */
const breachesOfRecords = {
  'incoming is what shipped shipments have not received': `
    with shipped as (
      select shipment.id, shipment.location_to as location_id, line.inventory_item_id, sum(line.quantity) as quantity
      from api.shipments shipment join api.shipment_items line on line.shipment_id = shipment.id
      where shipment.business_id = $1 and shipment.status = 'shipped' and shipment.location_to is not null
      group by 1, 2, 3
    ),
    expected as (
      select location_id, inventory_item_id, sum(greatest(0, quantity - coalesce((
        select sum(item.quantity) from api.shipment_receipts receipt
        join api.shipment_receipt_items item on item.shipment_receipt_id = receipt.id
        where receipt.shipment_id = shipped.id and receipt.completed_time is not null
          and item.inventory_item_id = shipped.inventory_item_id
      ), 0))) as quantity
      from shipped group by 1, 2
    )
    select level.location_id, level.inventory_item_id, level.incoming, expected.quantity
    from (select * from internal.inventory_levels where business_id = $1 and not exists (
      select from api.inventory_adjustments by_hand
      where by_hand.cause_type = 'adjust_inventory' and by_hand.inventory_status = 'incoming'
        and (by_hand.location_id, by_hand.inventory_item_id)
          = (inventory_levels.location_id, inventory_levels.inventory_item_id)
    )) level
    left join expected using (location_id, inventory_item_id)
    where level.incoming <> coalesce(expected.quantity, 0)`,
  "committed is what active orders hold at their channel's location": `
    with expected as (
      select channel.location_id, line.inventory_item_id, sum(line.quantity) as quantity
      from api.orders o
      join api.channels channel on channel.id = o.channel_id
      join api.order_line_items line on line.order_id = o.id
      where o.business_id = $1 and o.status in ('open', 'in_progress', 'pending', 'hold')
      group by 1, 2
    )
    select level.location_id, level.inventory_item_id, level.committed, expected.quantity
    from (select * from internal.inventory_levels where business_id = $1 and not exists (
      select from api.inventory_adjustments by_hand
      where by_hand.cause_type = 'adjust_inventory' and by_hand.inventory_status = 'committed'
        and (by_hand.location_id, by_hand.inventory_item_id)
          = (inventory_levels.location_id, inventory_levels.inventory_item_id)
    )) level
    left join expected using (location_id, inventory_item_id)
    where level.committed <> coalesce(expected.quantity, 0)`,
}

export const expectLedgerToHold = async (sql: Sql, businessId: string): Promise<void> => {
  for (const [rule, query] of Object.entries({ ...breaches, ...breachesOfRecords })) {
    expect([...(await sql.unsafe(query, [businessId]))], rule).toEqual([])
  }
}
