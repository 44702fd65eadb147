/**
 * The fields of every resource. A field that must be given when a record is created ends with `!`; a default follows `=`
 * (`=` alone: made by the database).
 */
export type Fields = Record<string, string>

const record: Fields = { id: 'uuid=', creation_time: 'date-time=', update_time: 'date-time' }
const tenantRecord: Fields = { ...record, business_id: 'uuid!' }
const freeForm: Fields = { additional_fields: 'jsonb', external_ids: 'jsonb' }

const all = (names: string, type: string): Fields => Object.fromEntries(names.split(' ').map((name) => [name, type]))

const numbered = (names: string, type: string): Fields =>
  Object.fromEntries(names.split(' ').flatMap((name) => [1, 2, 3, 4, 5, 6].map((n) => [`${name}_${n}`, type])))

export const tables: Record<string, Fields> = {
  businesses: {
    ...record,
    name: 'text!',
    legacy_id: 'integer',
    ...all('alphabetic_currency_code timezone_id inventory_item_key', 'text'),
  },
  addresses: {
    ...tenantRecord,
    ...freeForm,
    ...all('name first_name last_name company address_1 address_2 address_3 city province province_code', 'text'),
    ...all('postal_code country country_code phone contact_name contact_phone contact_email', 'text'),
  },
  channels: { ...tenantRecord, ...freeForm, name: 'text!', location_id: 'uuid', is_enabled: 'boolean=true' },
  customers: {
    ...tenantRecord,
    ...freeForm,
    ...all('name first_name last_name email phone', 'text'),
    ...all('billing_address_id shipping_address_id', 'uuid'),
  },
  locations: {
    ...tenantRecord,
    ...freeForm,
    name: 'text!',
    legacy_id: 'integer',
    is_virtual: 'boolean=false',
    address_id: 'uuid',
  },
  inventory_items: { ...tenantRecord, ...freeForm, sku: 'text!', title: 'text', upc: 'text', legacy_id: 'integer' },
  product_data: {
    ...tenantRecord,
    ...all('jwt image upc', 'text'),
    sku: 'short_text!',
    ...all('name hs_code country_of_origin', 'short_text'),
    ...all('cost landed_cost price wholesale_price', 'numeric'),
    ...all('length_mm height_mm width_mm weight_grams', 'integer'),
    is_active: 'boolean=true',
    ...numbered('option_name option_value category', 'short_text'),
    tags: 'text[]',
  },
  orders: {
    ...tenantRecord,
    ...freeForm,
    ...all('channel_id customer_id billing_address_id address_from_id address_to_id', 'uuid'),
    ...all('channel_order_id purchase_order_number currency_code canceled_reason', 'text'),
    status: 'order_status=open',
    order_type: 'order_type=sales_order',
    ...all('subtotal_price total_price total_shipping_price total_shipping_tax total_tax', 'integer'),
    total_grams: 'numeric',
    ...all('purchased_time canceled_time ships_by_time', 'date-time'),
  },
  order_line_items: {
    ...tenantRecord,
    ...freeForm,
    order_id: 'uuid!',
    inventory_item_id: 'uuid',
    quantity: 'integer!',
    ...all('upc vendor shipping_method', 'text'),
    grams: 'numeric',
    ...all('price shipping_price shipping_tax presale_quantity reserve_quantity', 'integer'),
  },
  order_activities: {
    ...tenantRecord,
    order_id: 'uuid!',
    fulfillment_id: 'uuid',
    title: 'text!',
    description: 'text',
    operation: 'text',
    result: 'activity_result!',
  },
  fulfillments: {
    ...tenantRecord,
    ...freeForm,
    order_id: 'uuid!',
    ...all('supplier_id location_id', 'uuid'),
    ...all('purchase_order_number shipping_company shipping_method tracking_number', 'text'),
    tracking_urls: 'text[]',
    shipped_at: 'date-time',
    status: 'fulfillment_status=NEW',
  },
  fulfillment_line_items: {
    ...tenantRecord,
    additional_fields: 'jsonb',
    fulfillment_id: 'uuid!',
    order_line_item_id: 'uuid',
    inventory_item_id: 'uuid!',
    quantity: 'integer!',
    ...all('sku title shipping_method vendor', 'text'),
    grams: 'numeric',
    ...all('price shipping_price shipping_tax', 'integer'),
  },
  shipments: {
    ...tenantRecord,
    ...freeForm,
    shipment_number: 'text!',
    status: 'shipment_status=unshipped',
    ...all('order_id billing_address_id location_from location_to', 'uuid'),
    ...all('bill_of_lading carrier service scac tracking_number', 'text'),
    tracking_urls: 'text[]',
    ...all('ship_by_time deliver_by_time cancel_by_time shipped_time received_time', 'date-time'),
    ...all('estimated_arrival_time canceled_time', 'date-time'),
  },
  shipment_packages: {
    ...tenantRecord,
    ...freeForm,
    shipment_id: 'uuid!',
    ...all('carton_id ssc license_plate currency_code', 'text'),
    dimension: 'item_dimension',
    ...all('pallet_number pack_size inner_packs', 'integer'),
    ...all('fulfillment_cost shipping_cost', 'numeric'),
  },
  shipment_items: {
    ...tenantRecord,
    ...freeForm,
    shipment_id: 'uuid!',
    shipment_package_id: 'uuid',
    inventory_item_id: 'uuid!',
    quantity: 'integer!',
    line_number: 'integer',
    ...all('name upc lot_number hs_code hts_code country_of_origin serial_number currency_code', 'text'),
    ...all('unit_price discounted_price', 'numeric'),
  },
  shipment_receipts: {
    ...tenantRecord,
    ...freeForm,
    shipment_id: 'uuid!',
    received_time: 'date-time=',
    completed_time: 'date-time',
  },
  shipment_receipt_items: {
    ...tenantRecord,
    ...freeForm,
    shipment_receipt_id: 'uuid!',
    inventory_item_id: 'uuid!',
    quantity: 'integer!',
    comment: 'text',
    receipt_time: 'date-time=',
    available: 'boolean=true',
  },
  shipment_webhooks: {
    ...tenantRecord,
    transaction_id: 'bigint=',
    shipment_id: 'uuid!',
    action: 'text!',
    status: 'webhook_status=ready',
    shipment_json: 'jsonb',
  },
  shipment_receipt_webhooks: {
    ...tenantRecord,
    transaction_id: 'bigint=',
    shipment_receipt_id: 'uuid!',
    action: 'text!',
    status: 'webhook_status=ready',
    shipment_receipt_json: 'jsonb',
  },
  process_shipments_steps: {
    ...tenantRecord,
    name: 'text',
    is_synchronous: 'boolean=true',
    is_authenticated: 'boolean=true',
    version: 'step_version=PRODUCTION',
    channel_ids: 'uuid[]=[]',
    virtual_location_id: 'uuid',
    warehouse_location_map: 'jsonb=[]',
    zeroes_short_inventory: 'boolean=false',
    callback_url: 'text',
  },
  send_orders_steps: {
    ...tenantRecord,
    is_enabled: 'boolean=true',
    ...all('name payload_url auth_query_field auth_query_value', 'text'),
    warehouse_location_map: 'jsonb=[]',
  },
  webhook_configurations: {
    ...tenantRecord,
    hook_consumer_url: 'text!',
    ...all('name producer_url disabled_reason', 'text'),
    is_enabled: 'boolean=true',
    is_immediate: 'boolean=false',
    disabled_time: 'date-time',
  },
  webhook_configuration_actions: {
    ...record,
    business_id: 'uuid=',
    webhook_configuration_id: 'uuid!',
    action: 'text!',
    capture_snapshot: 'boolean=false',
  },
}

/** Records that no client creates: their defaults and what is required show nowhere. */
export const readOnly: Record<string, Fields> = {
  api_keys: {
    id: 'uuid',
    business_id: 'uuid',
    ...all('name role', 'text'),
    ...all('creation_time revoked_time', 'date-time'),
  },
  application_keys: { id: 'uuid', name: 'text', ...all('creation_time revoked_time', 'date-time') },
  currencies: { ...all('alphabetic_code numeric_code name', 'text'), minor_unit: 'integer' },
  enum_values: { ...all('enum_type enum_value', 'name'), enum_order: 'real' },
  inventory_adjustments: {
    ...all('id business_id inventory_item_id location_id cause_id', 'uuid'),
    inventory_status: 'inventory_status',
    operation: 'adjustment_operation',
    ...all('quantity quantity_after', 'bigint'),
    ...all('cause_type memo idempotency_key', 'text'),
    ...all('effective_time creation_time update_time', 'date-time'),
  },
  inventory_quantities: {
    ...all('business_id inventory_item_id location_id', 'uuid'),
    ...all('available_to_sell committed on_hand on_hold on_order reserve incoming unavailable', 'bigint'),
    available_to_promise: 'bigint',
    ...all('sku title location', 'text'),
    ...all('location_legacy_id inventory_item_legacy_id', 'integer'),
  },
  shipment_package_items: {
    ...all('id shipment_id', 'uuid'),
    ...freeForm,
    ...all('carton_id ssc license_plate currency_code', 'text'),
    dimension: 'item_dimension',
    ...all('pallet_number pack_size inner_packs', 'integer'),
    ...all('fulfillment_cost shipping_cost', 'numeric'),
    items: 'jsonb[]',
  },
  table_columns: {
    ...all('table_name data_type base_type type_category element_type_category description', 'text'),
    column_name: 'name',
    ...all('is_primary_key is_nullable has_default is_generated', 'boolean'),
    max_characters: 'integer',
  },
  webhook_actions: all('action description resource', 'text'),
  webhook_deliveries: {
    ...all('id business_id webhook_configuration_id event_id object_id replay_of', 'uuid'),
    ...all('action error', 'text'),
    ...all('sequence lease_token', 'bigint'),
    ...all('event_time next_attempt_time ended_time creation_time update_time', 'date-time'),
    is_test: 'boolean',
    payload: 'jsonb',
    ...all('payload_bytes attempt_count response_status duration_ms', 'integer'),
    state: 'webhook_delivery_state',
  },
  webhook_delivery_attempts: {
    ...all('id business_id webhook_delivery_id', 'uuid'),
    ...all('attempt_number response_status duration_ms', 'integer'),
    ...all('attempt_time creation_time update_time', 'date-time'),
    ...all('request_url response_body error', 'text'),
    ...all('request_headers response_headers', 'jsonb'),
  },
  white_label: {
    ...record,
    ...all('name title', 'short_text'),
    ...all('favicon_bucket favicon_path logo_light_bucket logo_light_path logo_dark_bucket', 'text'),
    ...all('logo_dark_path logo_url', 'text'),
    theme: 'jsonb',
  },
}

export const typeOf = (field: string): string => field.replace(/[!=].*$/, '')
export const isRequired = (field: string): boolean => field.endsWith('!')
export const defaultOf = (field: string): unknown => {
  const [, written] = field.split('=')
  if (written === undefined || written === '') return undefined
  return /^(true|false|\[\])$/.test(written) ? JSON.parse(written) : written
}
