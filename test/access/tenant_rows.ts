import type { Sql } from '../../stack/database.ts'
import type { Column, Resource } from './exposed.ts'

export type Row = Record<string, unknown> & { id: string }
/** One row of each tenant table. */
export type TenantRows = Record<string, Row>

/** Where a column takes less than its type does. */
const taken: Record<string, unknown> = {
  'order_line_items.quantity': 100,
  'send_orders_steps.payload_url': 'https://warehouse.example/orders',
  'shipment_receipt_webhooks.action': 'shipment_receipt.created',
  'shipment_webhooks.action': 'shipment.created',
  'webhook_configuration_actions.action': 'shipment.created',
  'webhook_configurations.hook_consumer_url': 'https://consumer.example/hook',
  'webhook_deliveries.action': 'shipment.created',
}

const numbers = ['integer', 'bigint', 'numeric', 'smallint', 'real', 'double precision']

const valueFor = (table: string, column: Column, business: string): unknown => {
  if (column.enumValues !== null) return column.enumValues[0]
  if (column.isArray) return []
  if (numbers.includes(column.type)) return 1
  switch (column.type) {
    case 'uuid':
      return crypto.randomUUID()
    case 'boolean':
      return true
    case 'jsonb':
      return {}
    case 'timestamp with time zone':
      return '2026-01-01T00:00:00Z'
    default:
      return `${table} of ${business}`
  }
}

const bare = (name: string): string => name.replace(/^api\./, '')

export const refersTo = (resource: Resource): string[] =>
  resource.references.map((reference) => bare(reference.target)).filter((target) => target !== resource.name)

/** The values of every reference that `rows` has a target for. */
export const references = (resource: Resource, rows: TenantRows): Record<string, unknown> =>
  Object.fromEntries(
    resource.references.flatMap((reference) => {
      const target = rows[bare(reference.target)]
      return target === undefined
        ? []
        : reference.columns.map((column, n) => [column, target[reference.targetColumns[n] ?? '']])
    }),
  )

export const tenantTables = (resources: Resource[]): Resource[] =>
  resources.filter((resource) => resource.isTable && resource.isOfBusiness)

const inDependencyOrder = (tables: Resource[]): Resource[] => {
  const ordered: Resource[] = []
  while (ordered.length < tables.length) {
    const placed = ordered.map((table) => table.name)
    const next = tables.filter(
      (table) => !placed.includes(table.name) && refersTo(table).every((target) => placed.includes(target)),
    )
    if (next.length === 0) throw new Error('tables refer to each other in a circle')
    ordered.push(...next)
  }
  return ordered
}

/** A row for `table`, with all that is required and every reference. */
export const makeRow = (
  table: Resource,
  businessId: string,
  name: string,
  rows: TenantRows,
): Record<string, unknown> => {
  const required = table.columns.filter((column) => column.isRequired || `${table.name}.${column.name}` in taken)
  return {
    ...Object.fromEntries(
      required.map((column) => [
        column.name,
        taken[`${table.name}.${column.name}`] ?? valueFor(table.name, column, name),
      ]),
    ),
    ...references(table, rows),
    business_id: businessId,
  }
}

/** Fills every tenant table with a row of a business, as the catalog says that it must be. */
export async function addTenantRows(
  sql: Sql,
  resources: Resource[],
  businessId: string,
  name: string,
): Promise<TenantRows> {
  const rows: TenantRows = {}
  for (const table of inDependencyOrder(tenantTables(resources))) {
    const row = makeRow(table, businessId, name, rows)
    const columns = Object.keys(row)
      .map((column) => `"${column}"`)
      .join(', ')
    const [stored] = await sql.unsafe<{ row: Row }[]>(
      `insert into api.${table.name} (${columns}) select ${columns} from jsonb_populate_record(null::api.${table.name}, $1::text::jsonb)
       returning to_jsonb(${table.name}) as row`,
      [JSON.stringify(row)],
    )
    if (stored === undefined) throw new Error(`no row of ${table.name}`)
    rows[table.name] = stored.row
  }
  return rows
}
