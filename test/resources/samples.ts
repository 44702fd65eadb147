import { type Resource, readResources } from '../access/exposed.ts'
import { addTenantRows, makeRow, type TenantRows } from '../access/tenant_rows.ts'
import type { Lading, TestBusiness } from '../harness/lading.ts'
import { isRequired, tables } from './contract.ts'

type Fields = Record<string, unknown>

/** Where another record with the same references would break a unique rule. */
const another = (name: string, resource: string): Fields =>
  ({ product_data: { sku: name }, webhook_configuration_actions: { action: 'shipment.updated.status' } })[resource] ??
  {}

export interface Samples {
  /** What was there before: one record of each resource, which new ones refer to. */
  rows: TenantRows
  /** A new record with no more than what is required. */
  minimal(resource: string): Fields
}

export async function makeSamples(lading: Lading, business: TestBusiness): Promise<Samples> {
  const resources = await readResources(lading.sql)
  const rows = await addTenantRows(lading.sql, resources, business.id, business.name)
  const find = (name: string): Resource => {
    const resource = resources.find((candidate) => candidate.name === name)
    if (resource === undefined) throw new Error(`no resource ${name}`)
    return resource
  }
  return {
    rows,
    minimal(resource) {
      const name = crypto.randomUUID()
      const row = { ...makeRow(find(resource), business.id, name, rows), ...another(name, resource) }
      const required = Object.entries(tables[resource] ?? {}).filter(([, field]) => isRequired(field))
      return Object.fromEntries(required.map(([field]) => [field, row[field as keyof typeof row]]))
    },
  }
}
