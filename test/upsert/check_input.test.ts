import { describe, expect, test } from 'vitest'
import { addItem, addLocation, addShipment, receiptTime } from '../builders.ts'
import { startLading } from '../harness/lading.ts'

const lading = await startLading()
const { a } = lading
const warehouse = await addLocation(a)
const { sku } = await addItem(a, 'KNOWN')
const shipment = await addShipment(a, { to: warehouse })
const nobody = '0198c0de-0000-7000-8000-00000000dead'
const business_id = a.id

type Json = string | number | boolean | null | Json[] | { [key: string]: Json }
type Path = (string | number)[]

/** The object with the value at a path replaced; undefined removes it. */
const withValue = (object: Json, [key, ...rest]: Path, value: Json | undefined): Json => {
  if (key === undefined) return value ?? null
  const copy = structuredClone(object) as { [key: string | number]: Json }
  if (rest.length > 0) copy[key] = withValue(copy[key] ?? {}, rest, value)
  else if (value === undefined) delete copy[key]
  else copy[key] = value
  return copy
}

/** receipts[1].items[0].sku */
const written = (path: Path) =>
  path.map((key, n) => (typeof key === 'number' ? `[${key}]` : n === 0 ? key : `.${key}`)).join('')

const missing = undefined
const kinds = {
  uuid: [1, true, {}, [], 'not-a-uuid', ''],
  text: [1, true, {}, []],
  time: [1, true, {}, [], 'not a time', '2026-13-01T00:00:00Z', '2026-02-30T00:00:00Z', ''],
  object: [1, true, 'text', []],
  array: [1, true, 'text', {}],
  boolean: [1, 'true', 0, {}, []],
  integer: ['1', true, {}, [], 1.5, 2147483648, -2147483649, 1e300],
  positive: ['1', true, {}, [], 0, -1, 1.5, 2147483648, 1e300],
  bigint: ['1', true, {}, [], 1.5, 9223372036854776000, 1e300],
  numeric: ['1', true, {}, []],
  texts: [1, 'text', {}, [1], [null], [['x']]],
  status: [1, true, {}, [], 'lost', ''],
} as const satisfies Record<string, readonly Json[]>

interface Field {
  path: Path
  kind: keyof typeof kinds
  required?: boolean
  /** Values of the right type that the business does not have. */
  unknown?: string[]
}

interface Call {
  rpc: string
  parameter: string
  valid: Json
  /** Paths of the objects that refuse fields they do not know. */
  objects: Path[]
  fields: Field[]
  tables: string[]
}

const receiptItem = { sku, quantity: 3, receipt_time: receiptTime }
const calls: Call[] = [
  {
    rpc: 'upsert_shipment_receipts_full',
    parameter: 'shipment_receipts_full',
    valid: {
      business_id,
      shipment_number: shipment.shipment_number,
      receipts: [
        { received_time: receiptTime, items: [] },
        { received_time: receiptTime, items: [receiptItem, receiptItem] },
      ],
    },
    objects: [[], ['receipts', 1], ['receipts', 1, 'items', 1]],
    fields: [
      { path: ['business_id'], kind: 'uuid', required: true, unknown: [nobody] },
      { path: ['shipment_number'], kind: 'text', required: true, unknown: ['NO-SUCH-SHIPMENT', ''] },
      { path: ['receipts'], kind: 'array', required: true },
      { path: ['receipts', 1, 'id'], kind: 'uuid' },
      { path: ['receipts', 1, 'received_time'], kind: 'time', required: true },
      { path: ['receipts', 1, 'completed_time'], kind: 'time' },
      { path: ['receipts', 1, 'external_ids'], kind: 'object' },
      { path: ['receipts', 1, 'additional_fields'], kind: 'object' },
      { path: ['receipts', 1, 'items'], kind: 'array', required: true },
      { path: ['receipts', 1, 'items', 1, 'id'], kind: 'uuid' },
      { path: ['receipts', 1, 'items', 1, 'sku'], kind: 'text', required: true, unknown: ['NO-SUCH-SKU', ''] },
      { path: ['receipts', 1, 'items', 1, 'quantity'], kind: 'positive', required: true },
      { path: ['receipts', 1, 'items', 1, 'receipt_time'], kind: 'time', required: true },
      { path: ['receipts', 1, 'items', 1, 'external_ids'], kind: 'object' },
      { path: ['receipts', 1, 'items', 1, 'additional_fields'], kind: 'object' },
      { path: ['receipts', 1, 'items', 1, 'available'], kind: 'boolean' },
      { path: ['receipts', 1, 'items', 1, 'comment'], kind: 'text' },
    ],
    tables: ['shipment_receipts', 'shipment_receipt_items', 'inventory_adjustments'],
  },
  {
    rpc: 'upsert_shipments_full',
    parameter: 'shipment',
    valid: {
      business_id,
      shipment_number: 'NEW-SHIPMENT',
      from_location: { name: 'New plant', address: { city: 'Bremen' } },
      to_location: { id: warehouse },
      billing_address: { city: 'Kiel' },
      packages: [
        { items: [] },
        {
          carton_id: 'C',
          items: [
            { sku, quantity: 1 },
            { sku, quantity: 2 },
          ],
        },
      ],
      items: [{ sku, quantity: 3 }],
    },
    objects: [
      [],
      ['from_location'],
      ['from_location', 'address'],
      ['to_location'],
      ['billing_address'],
      ['packages', 1],
      ['packages', 1, 'items', 1],
      ['items', 0],
    ],
    fields: [
      { path: ['business_id'], kind: 'uuid', required: true, unknown: [nobody] },
      { path: ['shipment_number'], kind: 'text', required: true },
      { path: ['id'], kind: 'uuid' },
      { path: ['status'], kind: 'status' },
      { path: ['order_number'], kind: 'text', unknown: ['NO-SUCH-ORDER'] },
      { path: ['carrier'], kind: 'text' },
      { path: ['tracking_urls'], kind: 'texts' },
      { path: ['ship_by_time'], kind: 'time' },
      { path: ['shipped_time'], kind: 'time' },
      { path: ['location_from'], kind: 'uuid' },
      { path: ['external_ids'], kind: 'object' },
      { path: ['additional_fields'], kind: 'object' },
      { path: ['from_location'], kind: 'object' },
      { path: ['from_location', 'id'], kind: 'uuid', unknown: [nobody] },
      { path: ['from_location', 'name'], kind: 'text' },
      { path: ['from_location', 'address', 'city'], kind: 'text' },
      { path: ['to_location', 'id'], kind: 'uuid', unknown: [nobody] },
      { path: ['to_location', 'legacy_id'], kind: 'integer' },
      { path: ['billing_address'], kind: 'object' },
      { path: ['billing_address', 'external_ids'], kind: 'object' },
      { path: ['packages'], kind: 'array' },
      { path: ['packages', 1, 'carton_id'], kind: 'text' },
      { path: ['packages', 1, 'pallet_number'], kind: 'integer' },
      { path: ['packages', 1, 'shipping_cost'], kind: 'numeric' },
      { path: ['packages', 1, 'dimension'], kind: 'object' },
      { path: ['packages', 1, 'items'], kind: 'array' },
      { path: ['packages', 1, 'items', 1, 'sku'], kind: 'text', required: true, unknown: ['NO-SUCH-SKU', ''] },
      { path: ['packages', 1, 'items', 1, 'quantity'], kind: 'positive', required: true },
      { path: ['packages', 1, 'items', 1, 'line_number'], kind: 'integer' },
      { path: ['items'], kind: 'array' },
      { path: ['items', 0, 'id'], kind: 'uuid' },
      { path: ['items', 0, 'sku'], kind: 'text', required: true, unknown: ['NO-SUCH-SKU', ''] },
      { path: ['items', 0, 'inventory_item_id'], kind: 'uuid', unknown: [nobody] },
      { path: ['items', 0, 'quantity'], kind: 'positive', required: true },
      { path: ['items', 0, 'unit_price'], kind: 'numeric' },
    ],
    tables: ['shipments', 'shipment_packages', 'shipment_items', 'locations', 'addresses', 'inventory_adjustments'],
  },
  {
    rpc: 'upsert_orders_full',
    parameter: 'order',
    valid: {
      business_id,
      purchase_order_number: 'PO-1',
      customer: { name: 'Ada', billing_address: { city: 'Kiel' } },
      address_to: { city: 'Bonn' },
      line_items: [
        { sku, quantity: 1 },
        { sku, quantity: 2 },
      ],
    },
    objects: [[], ['customer'], ['customer', 'billing_address'], ['address_to'], ['line_items', 1]],
    fields: [
      { path: ['business_id'], kind: 'uuid', required: true, unknown: [nobody] },
      { path: ['id'], kind: 'uuid' },
      { path: ['channel_id'], kind: 'uuid' },
      { path: ['purchase_order_number'], kind: 'text' },
      { path: ['status'], kind: 'status' },
      { path: ['order_type'], kind: 'status' },
      { path: ['total_price'], kind: 'integer' },
      { path: ['total_grams'], kind: 'numeric' },
      { path: ['purchased_time'], kind: 'time' },
      { path: ['external_ids'], kind: 'object' },
      { path: ['customer'], kind: 'object' },
      { path: ['customer', 'email'], kind: 'text' },
      { path: ['customer', 'billing_address'], kind: 'object' },
      { path: ['customer', 'billing_address', 'city'], kind: 'text' },
      { path: ['address_to', 'city'], kind: 'text' },
      { path: ['line_items'], kind: 'array' },
      { path: ['line_items', 1, 'id'], kind: 'uuid' },
      { path: ['line_items', 1, 'sku'], kind: 'text', unknown: ['NO-SUCH-SKU', ''] },
      { path: ['line_items', 1, 'inventory_item_id'], kind: 'uuid', unknown: [nobody] },
      { path: ['line_items', 1, 'quantity'], kind: 'positive', required: true },
      { path: ['line_items', 1, 'price'], kind: 'integer' },
      { path: ['line_items', 1, 'grams'], kind: 'numeric' },
    ],
    tables: ['orders', 'order_line_items', 'customers', 'addresses', 'inventory_adjustments'],
  },
  {
    rpc: 'adjust_inventory',
    parameter: 'adjustments',
    valid: [
      { sku, location_id: warehouse, inventory_status: 'on_hold', operation: 'ADJUST', quantity: 1 },
      { sku, location_id: warehouse, inventory_status: 'on_hold', operation: 'SET', quantity: 9 },
    ],
    objects: [[0], [1]],
    fields: [
      { path: [1, 'sku'], kind: 'text', required: true, unknown: ['NO-SUCH-SKU', ''] },
      { path: [1, 'inventory_item_id'], kind: 'uuid', unknown: [nobody] },
      { path: [1, 'location_id'], kind: 'uuid', required: true, unknown: [nobody] },
      { path: [1, 'inventory_status'], kind: 'status', required: true },
      { path: [1, 'operation'], kind: 'status', required: true },
      { path: [1, 'quantity'], kind: 'bigint', required: true },
      { path: [1, 'memo'], kind: 'text' },
      { path: [1, 'idempotent_key'], kind: 'text' },
    ],
    tables: ['inventory_adjustments'],
  },
]

const counts = async (tables: string[]) => {
  const rows = await lading.sql.unsafe<{ name: string; count: number }[]>(
    tables.map((name) => `select '${name}' as name, count(*)::int as count from api.${name}`).join(' union all '),
  )
  return Object.fromEntries(rows.map(({ name, count }) => [name, count]))
}

for (const { rpc, parameter, valid, objects, fields, tables } of calls) {
  const send = (value: Json, headers = {}) =>
    a.rest.rpc(rpc, { [parameter]: value, ...(rpc === 'adjust_inventory' ? { business_id } : {}) }, headers)
  const nameOf = (path: Path) =>
    Array.isArray(valid) ? `${parameter}${written(path).replace(/^(\d+)/, '[$1]')}` : written(path)

  /** Each value put at the path is refused with a message that starts with it, and none of the tables grows. */
  const areRefused = async (path: Path, values: readonly (Json | undefined)[], reason = '') => {
    const before = await counts(tables)
    const answers = await Promise.all(values.map((value) => send(withValue(valid, path, value))))
    for (const [n, { status, body }] of answers.entries()) {
      const context = `${nameOf(path)} := ${JSON.stringify(values[n])} → ${JSON.stringify(body).slice(0, 300)}`
      expect(status, context).toBe(400)
      expect(body, context).toMatchObject({ code: 'P0001', details: null, hint: null })
      const { message } = body as { message: string }
      expect(message.startsWith(`${nameOf(path)}: ${reason}`), context).toBe(true)
      expect(message, context).toMatch(/^[^\n]+$/)
    }
    expect(await counts(tables), nameOf(path)).toEqual(before)
  }

  describe(`${rpc} refuses wrong input, by path, and stores nothing`, () => {
    test('the input without its fault is taken', async () => {
      expect(await send(valid, { Prefer: 'tx=rollback' })).toMatchObject({ status: 200 })
    })

    for (const { path, kind, required = false, unknown = [] } of fields) {
      test(`${nameOf(path)}: ${kind}${required ? ', required' : ''}`, async () => {
        await areRefused(path, [...kinds[kind], ...unknown])
        if (required) await areRefused(path, [missing, null], 'is required')
      })
    }

    for (const path of objects) {
      test(`${nameOf(path) || 'the input'} takes no field that it does not know`, async () => {
        await areRefused([...path, 'colour'], ['red'], 'is not a known field')
      })
      if (path.length > 0) {
        test(`${nameOf(path)} must be an object`, async () => {
          const isElement = typeof path.at(-1) === 'number'
          await areRefused(path, ['text', 1, true, [], ...(isElement ? [null] : [])])
        })
      }
    }

    test(`${parameter} itself is of the right kind`, async () => {
      const before = await counts(tables)
      const wrong: Json[] = ['text', 1, true, null, Array.isArray(valid) ? {} : []]
      for (const value of wrong) {
        expect(await send(value), JSON.stringify(value)).toMatchObject({ status: 400 })
      }
      expect(await counts(tables)).toEqual(before)
    })

    test('the body as a whole: no JSON, no object, no parameter', async () => {
      for (const body of ['', '{', 'null', '[]', '"text"', '{}']) {
        const { status } = await a.rest.post(`/rpc/${rpc}`, body, { 'Content-Type': 'application/json' })
        expect(status, body).toBeGreaterThanOrEqual(400)
        expect(status, body).toBeLessThan(500)
      }
    })

    test('text that Postgres cannot keep (NUL), numbers beyond all types, deep nesting: 4xx', async () => {
      const text = JSON.stringify({
        [parameter]: valid,
        business_id: rpc === 'adjust_inventory' ? business_id : undefined,
      })
      const before = await counts(tables)
      for (const bad of ['"\\u0000"', '1e200000', `"\\ud800"`]) {
        const answer = await a.rest.post(`/rpc/${rpc}`, text.replaceAll('"KNOWN"', bad), {
          'Content-Type': 'application/json',
        })
        expect(answer.status, `${bad} ${JSON.stringify(answer.body)}`).toBe(400)
      }
      expect(await counts(tables)).toEqual(before)
    })
  })
}

describe('patch', () => {
  test('must be a boolean; null is not false', async () => {
    for (const { rpc, parameter, valid } of calls.filter(({ rpc }) => rpc !== 'adjust_inventory')) {
      for (const patch of [null, 'perhaps', 7, {}]) {
        const { status } = await a.rest.rpc(rpc, { [parameter]: valid, patch }, { Prefer: 'tx=rollback' })
        expect(status, `${rpc} patch ${JSON.stringify(patch)}`).toBe(400)
      }
    }
  })
})

describe('business_id of adjust_inventory', () => {
  test('unknown, of another business, null, or no uuid: 400, and nothing is stored', async () => {
    const { valid } = calls.find(({ rpc }) => rpc === 'adjust_inventory') ?? { valid: [] }
    for (const business of [nobody, lading.b.id, null, 'x']) {
      const answer = await a.rest.rpc('adjust_inventory', { business_id: business, adjustments: valid })
      expect(answer, String(business)).toMatchObject({ status: 400 })
    }
    expect(await counts(['inventory_adjustments'])).toEqual({ inventory_adjustments: 0 })
  })
})
