import { describe, expect, test } from 'vitest'
import { startLading } from '../harness/lading.ts'
import { readOnly, tables } from './contract.ts'

interface Property {
  description?: string
  format: string
  enum?: string[]
}
interface OpenApi {
  basePath: string
  host: string
  info: { title: string; description?: string; version: string }
  paths: Record<string, Record<string, { summary?: string; description?: string }>>
  definitions: Record<string, { description?: string; required?: string[]; properties: Record<string, Property> }>
}

const lading = await startLading()
const { status, body: api } = await lading.a.rest.get<OpenApi>('/')

test('is served at /rest/v1/ to every key, with the public address', () => {
  expect(status).toBe(200)
  expect(`http://${api.host}${api.basePath}`).toBe(lading.restUrl)
})

test('describes the resources that a business may use, and no others', () => {
  const usable = Object.keys({ ...tables, ...readOnly }).filter((name) => name !== 'application_keys')
  expect(Object.keys(api.definitions).sort()).toEqual(usable.sort())
})

test('offers the verbs of a table', () => {
  expect(Object.keys(api.paths['/orders'] ?? {}).sort()).toEqual(['delete', 'get', 'patch', 'post'])
})

describe.each(Object.keys(tables))('%s', (resource) => {
  const definition = api.definitions[resource]

  test('says what it and each of its fields is', () => {
    expect(definition?.description).toMatch(/\w/)
    for (const [name, property] of Object.entries(definition?.properties ?? {})) {
      expect(property.description, name).toMatch(/\w/)
    }
  })

  test('shows its primary key and what its ids refer to', () => {
    expect(definition?.properties.id?.description).toContain('<pk/>')
    expect(definition?.properties.id?.format).toBe('uuid')
  })
})

test('shows foreign keys, enums and formats, so that clients can be made from it', () => {
  const orders = api.definitions.orders?.properties
  expect(orders?.business_id?.description).toContain("<fk table='businesses' column='id'/>")
  expect(orders?.currency_code?.description).toContain("<fk table='currencies' column='alphabetic_code'/>")
  expect(orders?.status?.enum).toEqual(['open', 'in_progress', 'closed', 'canceled', 'pending', 'hold'])
  expect(orders?.creation_time?.format).toBe('timestamp with time zone')
})

test('shows the calls with what they say of themselves', () => {
  const call = api.paths['/rpc/upsert_shipment_receipts_full']?.post
  expect(`${call?.summary} ${call?.description}`).toContain('shipment_receipts_full')
  expect(api.paths['/rpc/create_application_key']).toBeUndefined()
})
