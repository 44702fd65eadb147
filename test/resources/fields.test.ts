import { describe, expect, test } from 'vitest'
import { startLading } from '../harness/lading.ts'
import { defaultOf, isRequired, readOnly, tables, typeOf } from './contract.ts'
import { makeSamples } from './samples.ts'

const lading = await startLading()
const { minimal } = await makeSamples(lading, lading.a)
const representation = { Prefer: 'return=representation' }

const nameOf = (dataType: string): string => dataType.replace('timestamp with time zone', 'date-time')

test('these resources are all that an operator is told of', async () => {
  const { body } = await lading.operator.get<{ table_name: string }[]>('/table_columns?select=table_name')
  expect([...new Set(body.map((row) => row.table_name))].sort()).toEqual(Object.keys({ ...tables, ...readOnly }).sort())
})

describe.each(Object.entries({ ...tables, ...readOnly }))('%s', (resource, fields) => {
  test('has exactly these fields, of these types', async () => {
    const { body } = await lading.operator.get<{ column_name: string; data_type: string }[]>(
      `/table_columns?table_name=eq.${resource}&select=column_name,data_type`,
    )
    const found = Object.fromEntries(body.map((column) => [column.column_name, nameOf(column.data_type)]))
    expect(found).toEqual(Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, typeOf(field)])))
  })
})

const wrong: Record<string, unknown> = {
  uuid: 'x',
  integer: 'many',
  bigint: 'many',
  numeric: 'much',
  boolean: 'perhaps',
  'date-time': 'someday',
  'text[]': '{unclosed',
  'uuid[]': ['x'],
  item_dimension: '(1',
}

describe.each(Object.entries(tables))('%s', (resource, fields) => {
  const path = `/${resource}`
  const create = (row: unknown) => lading.operator.post<Record<string, unknown>[]>(path, row, representation)
  const required = Object.keys(fields).filter((name) => isRequired(fields[name] ?? ''))

  test('takes a record with what is required, and fills in the defaults', async () => {
    const given = minimal(resource)
    const { status, body } = await create(given)
    expect(status, JSON.stringify(body)).toBe(201)
    const stored = body[0] ?? {}
    expect(stored).toMatchObject(given)
    expect(Object.keys(stored).sort()).toEqual(Object.keys(fields).sort())
    expect(stored.id).toMatch(/^[0-9a-f-]{14}7[0-9a-f]{3}-/)
    expect(Math.abs(Date.parse(String(stored.creation_time)) - Date.now())).toBeLessThan(60_000)
    expect(stored.update_time).toBeNull()
    for (const [name, field] of Object.entries(fields)) {
      if (defaultOf(field) !== undefined) expect(stored[name], name).toEqual(defaultOf(field))
    }
  })

  test.each(required)('refuses (400) a record without %s, naming it', async (name) => {
    for (const row of [{ ...minimal(resource), [name]: null }, withoutField(minimal(resource), name)]) {
      const answer = await create(row)
      expect(answer).toMatchObject({ status: 400, body: { message: expect.stringContaining(name) } })
    }
  })

  test('refuses (400) a value of the wrong type in any field', async () => {
    for (const [name, field] of Object.entries(fields)) {
      const type = typeOf(field)
      if (['text', 'short_text', 'jsonb'].includes(type)) continue
      const answer = await create({ ...minimal(resource), [name]: type in wrong ? wrong[type] : 'no such value' })
      expect(answer.status, name).toBe(400)
    }
  })

  test('refuses (400) an unknown field, naming it', async () => {
    const answer = await create({ ...minimal(resource), colour: 'blue' })
    expect(answer).toMatchObject({ status: 400, body: { message: expect.stringContaining('colour') } })
  })

  const objects = Object.keys(fields).filter((name) => /^(additional_fields|external_ids|theme)$|_json$/.test(name))
  if (objects.length > 0)
    test(`takes JSON objects only in ${objects.join(', ')}`, async () => {
      for (const name of objects) {
        for (const value of [[], 'text', 1, true]) {
          expect((await create({ ...minimal(resource), [name]: value })).status, name).toBe(400)
        }
        const deep = { a: { b: [1, 'zwei', null] } }
        const unique = resource === 'webhook_configuration_actions' ? {} : { [name]: deep }
        expect(await create({ ...minimal(resource), ...unique })).toMatchObject({ status: 201, body: [unique] })
      }
    })

  const shortTexts = Object.keys(fields).filter((name) => typeOf(fields[name] ?? '') === 'short_text')
  if (shortTexts.length > 0)
    test('takes at most 255 characters of short text', async () => {
      for (const name of shortTexts) {
        expect((await create({ ...minimal(resource), [name]: 'é'.repeat(256) })).status, name).toBe(400)
      }
      const longest = Object.fromEntries(shortTexts.map((name) => [name, 'é'.repeat(255)]))
      expect((await create({ ...minimal(resource), ...longest })).status).toBe(201)
    })

  const currencies = Object.keys(fields).filter((name) => name.endsWith('currency_code'))
  if (currencies.length > 0)
    test('takes currencies of ISO 4217 only: 409', async () => {
      for (const name of currencies) {
        expect((await create({ ...minimal(resource), [name]: 'XYZ' })).status).toBe(409)
        expect((await create({ ...minimal(resource), [name]: 'EUR' })).status).toBe(201)
      }
    })
})

function withoutField(row: Record<string, unknown>, name: string): Record<string, unknown> {
  return Object.fromEntries(Object.entries(row).filter(([field]) => field !== name))
}
