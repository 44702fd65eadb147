import type { TenantRows } from './tenant_rows.ts'

type Sample = (rows: TenantRows, businessId: string, keyId: string) => Record<string, unknown>

const time = '2026-01-02T00:00:00Z'

/** For every call, parameters that a business may send, naming as many of its records as the call takes. */
export const tenantCalls: Record<string, Sample> = {
  adjust_inventory: (rows, business_id) => ({
    business_id,
    adjustments: [
      {
        inventory_item_id: rows.inventory_items?.id,
        location_id: rows.locations?.id,
        inventory_status: 'available_to_sell',
        operation: 'ADJUST',
        quantity: 5,
      },
    ],
  }),
  create_api_key: (_rows, business_id) => ({ business_id, name: 'sample' }),
  create_application_key: () => ({ name: 'sample' }),
  create_fulfillment: (rows) => ({
    fulfillment: {
      order_id: rows.orders?.id,
      location_id: rows.locations?.id,
      line_items: [{ order_line_item_id: rows.order_line_items?.id, quantity: 1 }],
    },
  }),
  revoke_api_key: (_rows, _businessId, id) => ({ id }),
  revoke_application_key: (_rows, _businessId, id) => ({ id }),
  upsert_orders_full: (rows, business_id) => ({
    order: {
      id: rows.orders?.id,
      business_id,
      channel_id: rows.channels?.id,
      customer_id: rows.customers?.id,
      billing_address_id: rows.addresses?.id,
      address_from_id: rows.addresses?.id,
      address_to_id: rows.addresses?.id,
      line_items: [
        { id: rows.order_line_items?.id, inventory_item_id: rows.inventory_items?.id, quantity: 2 },
        { inventory_item_id: rows.inventory_items?.id, quantity: 3 },
      ],
    },
  }),
  upsert_shipment_receipts_full: (rows, business_id) => ({
    shipment_receipts_full: {
      business_id,
      shipment_number: rows.shipments?.shipment_number,
      receipts: [
        {
          id: rows.shipment_receipts?.id,
          received_time: time,
          items: [
            { id: rows.shipment_receipt_items?.id, sku: rows.inventory_items?.sku, quantity: 2, receipt_time: time },
            { sku: rows.inventory_items?.sku, quantity: 3, receipt_time: time },
          ],
        },
      ],
    },
  }),
  upsert_shipments_full: (rows, business_id) => ({
    shipment: {
      id: rows.shipments?.id,
      business_id,
      shipment_number: rows.shipments?.shipment_number,
      order_id: rows.orders?.id,
      location_from: rows.locations?.id,
      location_to: rows.locations?.id,
      billing_address_id: rows.addresses?.id,
      from_location: { id: rows.locations?.id },
      packages: [
        {
          id: rows.shipment_packages?.id,
          items: [{ id: rows.shipment_items?.id, inventory_item_id: rows.inventory_items?.id, quantity: 2 }],
        },
      ],
      items: [{ inventory_item_id: rows.inventory_items?.id, quantity: 3 }],
    },
  }),
  verify_inventory: (_rows, business_id) => ({ business_id }),
}
