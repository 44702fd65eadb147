-- A business to try Lading with: two warehouses, a sales channel with its virtual location, five items in stock,
-- a shipment under way to the first warehouse and an order. Runs once, in one transaction.
do $$
declare
  business uuid;
  east uuid;
  west uuid;
  online uuid;
  channel uuid;
  supply uuid;
  purchase uuid;
begin
  insert into api.businesses (name, alphabetic_currency_code, timezone_id)
  values ('Lading Demo', 'USD', 'America/New_York')
  returning id into business;

  insert into api.locations (business_id, name, legacy_id) values (business, 'Warehouse East', 1) returning id into east;
  insert into api.locations (business_id, name, legacy_id) values (business, 'Warehouse West', 2) returning id into west;
  insert into api.locations (business_id, name, legacy_id, is_virtual)
  values (business, 'Online Store', 3, true)
  returning id into online;
  insert into api.channels (business_id, name, location_id) values (business, 'Online Store', online) returning id into channel;

  insert into api.inventory_items (business_id, sku, title) values
    (business, 'MUG-BLUE', 'Mug, blue'),
    (business, 'MUG-GREEN', 'Mug, green'),
    (business, 'TEA-EARL-GREY', 'Earl Grey, 100 g'),
    (business, 'TEA-SENCHA', 'Sencha, 100 g'),
    (business, 'TEAPOT', 'Teapot, 1 l');

  perform api.adjust_inventory(business, (
    select jsonb_agg(jsonb_build_object(
      'sku', sku, 'location_id', location_id, 'inventory_status', 'available_to_sell', 'operation', 'ADJUST',
      'quantity', quantity, 'memo', 'Opening stock'
    ))
    from api.inventory_items
    cross join (values (east, 100), (west, 50), (online, 150)) as stock (location_id, quantity)
    where business_id = business
  ));

  insert into api.shipments (business_id, shipment_number, carrier, location_to)
  values (business, 'DEMO-1000', 'Ocean Freight', east)
  returning id into supply;
  insert into api.shipment_items (business_id, shipment_id, inventory_item_id, line_number, quantity)
  select business, supply, item.id, line.number, line.quantity
  from (values (1, 'MUG-BLUE', 81), (2, 'TEAPOT', 12)) as line (number, sku, quantity)
  join api.inventory_items item on item.business_id = business and item.sku = line.sku;
  update api.shipments set status = 'shipped', shipped_time = now() where id = supply;

  insert into api.orders (business_id, channel_id, channel_order_id, purchase_order_number, currency_code, purchased_time)
  values (business, channel, 'DEMO-1', 'DEMO-PO-1', 'USD', now())
  returning id into purchase;
  insert into api.order_line_items (business_id, order_id, inventory_item_id, quantity, price)
  select business, purchase, item.id, line.quantity, line.price
  from (values ('TEA-SENCHA', 2, 900), ('TEAPOT', 1, 3900)) as line (sku, quantity, price)
  join api.inventory_items item on item.business_id = business and item.sku = line.sku;
end
$$;
