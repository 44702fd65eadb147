import { describe, expect, it } from 'vitest'
import { useDatabase } from './database.ts'
import { type Exposure, readFunctions, readRelations, readSchemaPrivileges } from './exposure.ts'
import { describeRules } from './rule.ts'

const all = 'select insert update delete'
const everything = { business: all, operator: all }
const readOnly = { business: 'select', operator: 'select' }

const tablesAndViews: Exposure = {
  addresses: everything,
  api_keys: readOnly,
  application_keys: { operator: 'select' },
  businesses: { business: 'select update', operator: all },
  channels: everything,
  currencies: readOnly,
  customers: everything,
  enum_values: readOnly,
  fulfillment_line_items: everything,
  fulfillments: everything,
  inventory_adjustments: readOnly,
  inventory_items: everything,
  inventory_quantities: readOnly,
  locations: everything,
  order_activities: { business: 'select insert', operator: 'select insert' },
  order_line_items: everything,
  orders: everything,
  process_shipments_steps: everything,
  product_data: everything,
  send_orders_steps: everything,
  shipment_items: everything,
  shipment_package_items: readOnly,
  shipment_packages: everything,
  shipment_receipt_items: everything,
  shipment_receipt_webhooks: everything,
  shipment_receipts: everything,
  shipment_webhooks: everything,
  shipments: everything,
  table_columns: readOnly,
  webhook_actions: readOnly,
  webhook_configuration_actions: everything,
  webhook_configurations: everything,
  webhook_deliveries: readOnly,
  webhook_delivery_attempts: readOnly,
  white_label: { business: 'select', operator: 'select update' },
}

const call = { business: 'execute', operator: 'execute' }

const calls: Exposure = {
  adjust_inventory: call,
  create_api_key: call,
  create_application_key: { operator: 'execute' },
  create_fulfillment: call,
  revoke_api_key: call,
  revoke_application_key: { operator: 'execute' },
  upsert_orders_full: call,
  upsert_shipment_receipts_full: call,
  upsert_shipments_full: call,
  verify_inventory: call,
}

const anyone = { anon: 'execute', business: 'execute', operator: 'execute', warehouse: 'execute' }

/** What calls, views and policies need of internal when they run as the caller; the sidecar and PostgREST log in as authenticator. */
const internalFunctions: Exposure = {
  business_id: anyone,
  caller_role: anyone,
  check_input: call,
  check_request: anyone,
  find_location: call,
  find_one: call,
  find_order: call,
  fulfillments_in_full: call,
  identify_caller: { authenticator: 'execute' },
  is_http_address: call,
  match_existing: call,
  match_items: call,
  orders_in_full: call,
  postgrest_config: { authenticator: 'execute' },
  receipt_discrepancies: call,
  receive_callback: { authenticator: 'execute' },
  refuse: call,
  refuse_input: call,
  require_business: call,
  shipment_receipts_in_full: call,
  shipments_in_full: call,
  upsert_address: call,
  upsert_customer: call,
  upsert_location: call,
  upsert_rows: call,
  waiting_send_orders_secrets: call,
}

const internalTables: Exposure = {
  api_keys: {
    business: 'select (id, business_id, name, role, creation_time, revoked_time)',
    operator: 'select (id, business_id, name, role, creation_time, revoked_time)',
  },
  application_keys: { operator: 'select (id, name, creation_time, revoked_time)' },
  inventory_levels: readOnly,
  order_line_progress: readOnly,
}

describe('what is exposed', () => {
  const database = useDatabase()

  it('exactly these tables and views, with these verbs', async () => {
    expect(await readRelations(database(), 'api')).toEqual(tablesAndViews)
  })

  it('exactly these calls', async () => {
    expect(await readFunctions(database(), 'api')).toEqual(calls)
  })

  it('of internal, exactly these functions', async () => {
    expect(await readFunctions(database(), 'internal')).toEqual(internalFunctions)
  })

  it('of internal, exactly these tables and columns', async () => {
    expect(await readRelations(database(), 'internal')).toEqual(internalTables)
  })

  it('no schema beside api and internal, and none to create in', async () => {
    expect(await readSchemaPrivileges(database())).toEqual({
      api: { anon: 'usage', business: 'usage', operator: 'usage', warehouse: 'usage' },
      internal: { anon: 'usage', authenticator: 'usage', business: 'usage', operator: 'usage', warehouse: 'usage' },
      public: { anon: 'usage', authenticator: 'usage', business: 'usage', operator: 'usage', warehouse: 'usage' },
    })
  })
})

const exposedRoles = `('anon', 'business', 'warehouse', 'operator', 'authenticator')`

describeRules('roles and views', useDatabase(), [
  {
    title: 'every view of api reads with the rights of its caller, but those of the catalog',
    violations: `
      select c.oid::regclass::text from pg_class c
      where c.relnamespace = 'api'::regnamespace and c.relkind in ('v', 'm')
        and not coalesce(c.reloptions, '{}') && array['security_invoker=true', 'security_invoker=on']`,
    breach: 'create view api.loose as select * from api.orders',
  },
  {
    title:
      'no role of a key may do more than a role of a key: no login, superuser, bypass of row security, creation or inheritance of others',
    violations: `
      select rolname from pg_roles
      where rolname in ${exposedRoles} and (rolcanlogin <> (rolname = 'authenticator') or rolsuper or rolbypassrls or rolcreaterole or rolcreatedb or rolreplication
        or rolname = 'authenticator' and rolinherit)
      union all
      select m.member::regrole || ' is a member of ' || m.roleid::regrole from pg_auth_members m
      where m.member in (select oid from pg_roles where rolname in ${exposedRoles}) and m.member <> 'authenticator'::regrole
      union all
      select 'authenticator is a member of ' || m.roleid::regrole from pg_auth_members m
      where m.member = 'authenticator'::regrole and m.roleid not in (select oid from pg_roles where rolname in ${exposedRoles})`,
    breach: 'alter role warehouse createdb',
  },
  {
    title: 'no privilege may be passed on',
    violations: `
      select c.oid::regclass::text from pg_class c cross join aclexplode(c.relacl) a
      where c.relnamespace in ('api'::regnamespace, 'internal'::regnamespace) and a.is_grantable and a.grantee <> c.relowner
      union all
      select p.oid::regprocedure::text from pg_proc p cross join aclexplode(p.proacl) a
      where p.pronamespace in ('api'::regnamespace, 'internal'::regnamespace) and a.is_grantable and a.grantee <> p.proowner`,
    breach: 'grant select on api.orders to warehouse with grant option',
  },
])
