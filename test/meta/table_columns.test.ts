import { describe, expect, test } from 'vitest'
import { startLading } from '../harness/lading.ts'

interface Column {
  table_name: string
  column_name: string
  is_primary_key: boolean
  data_type: string
  base_type: string
  type_category: string
  element_type_category: string | null
  max_characters: number | null
  is_nullable: boolean
  has_default: boolean
  is_generated: boolean
  description: string | null
}

const lading = await startLading()
const columnsFor = async (rest: typeof lading.a.rest) => (await rest.get<Column[]>('/table_columns')).body
const ofBusiness = await columnsFor(lading.a.rest)
const find = (table: string, column: string) =>
  ofBusiness.find(({ table_name, column_name }) => table_name === table && column_name === column)

describe('is true to the catalog', () => {
  test('for every column of every resource that a business may use', async () => {
    const expected = await lading.sql`
      select c.table_name || '.' || c.column_name as name, c.is_nullable = 'YES' as "isNullable",
        c.column_default is not null as "hasDefault", c.character_maximum_length as "maxCharacters"
      from information_schema.columns c
      where c.table_schema = 'api'
        and has_any_column_privilege('business', to_regclass(format('api.%I', c.table_name)), 'select, insert, update')
      order by c.table_name, c.ordinal_position`
    const found = ofBusiness.map((column) => ({
      name: `${column.table_name}.${column.column_name}`,
      isNullable: column.is_nullable,
      hasDefault: column.has_default,
      maxCharacters: column.max_characters,
    }))
    const sorted = (rows: readonly { name?: string }[]) =>
      [...rows].sort((x, y) => (x.name ?? '').localeCompare(y.name ?? ''))
    expect(sorted(found)).toEqual(sorted([...expected]))
  })

  test.each([
    ['orders', 'id', { is_primary_key: true, data_type: 'uuid', is_nullable: false, has_default: true }],
    ['orders', 'business_id', { is_primary_key: false, is_nullable: false, has_default: false }],
    [
      'orders',
      'status',
      { data_type: 'order_status', base_type: 'order_status', type_category: 'E', has_default: true },
    ],
    ['orders', 'total_grams', { data_type: 'numeric', type_category: 'N', is_nullable: true, has_default: false }],
    ['orders', 'creation_time', { data_type: 'timestamp with time zone', type_category: 'D' }],
    ['product_data', 'name', { base_type: 'character varying(255)', type_category: 'S', max_characters: 255 }],
    ['product_data', 'tags', { data_type: 'text[]', type_category: 'A', element_type_category: 'S' }],
    ['shipment_packages', 'dimension', { data_type: 'item_dimension', type_category: 'C' }],
    ['currencies', 'alphabetic_code', { is_primary_key: true, max_characters: null, element_type_category: null }],
    ['shipment_package_items', 'id', { is_primary_key: true }],
    ['inventory_quantities', 'on_hand', { data_type: 'bigint', is_generated: false }],
  ])('%s.%s', (table, column, expected) => {
    expect(find(table, column)).toMatchObject(expected)
  })
})

test('every column says what it means', () => {
  expect(ofBusiness.filter(({ description }) => description === null || description === '')).toEqual([])
})

describe('each caller is told of what it may use', () => {
  const tablesFor = async (rest: typeof lading.a.rest) =>
    [...new Set((await columnsFor(rest)).map(({ table_name }) => table_name))].sort()

  test('a business not of application keys, an operator of all', async () => {
    const business = await tablesFor(lading.a.rest)
    expect(business).not.toContain('application_keys')
    expect(await tablesFor(lading.operator)).toEqual([...business, 'application_keys'].sort())
  })

  test('nobody of a schema that is not served', async () => {
    const internal = await lading.sql<{ name: string }[]>`
      select tablename as name from pg_tables where schemaname in ('internal', 'graphile_worker', 'graphile_migrate')
      except
      select relname from pg_class where relnamespace = 'api'::regnamespace`
    const told = await tablesFor(lading.operator)
    expect(internal.filter(({ name }) => told.includes(name))).toEqual([])
    expect((await columnsFor(lading.operator)).filter(({ column_name }) => /hash|secret$/.test(column_name))).toEqual(
      [],
    )
  })

  test('a privilege taken away is a column that is gone', async () => {
    await lading.sql`revoke all on api.customers from business`
    expect(await tablesFor(lading.a.rest)).not.toContain('customers')
    expect(await tablesFor(lading.operator)).toContain('customers')
  })
})
