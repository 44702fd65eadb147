import { describe, expect, test } from 'vitest'
import { startLading } from '../harness/lading.ts'
import type { RestClient } from '../harness/rest_client.ts'
import { type Privilege, type Resource, readCalls, readResources } from './exposed.ts'
import { tenantCalls } from './tenant_calls.ts'
import { addTenantRows, makeRow, references, type TenantRows, tenantTables } from './tenant_rows.ts'

// Every resource and call that the catalog names × every verb × every role, with the records of another business too.

const lading = await startLading()
const resources = await readResources(lading.sql)
const calls = await readCalls(lading.sql)
const tenants = tenantTables(resources)
const rowsOfA = await addTenantRows(lading.sql, resources, lading.a.id, 'Business A')
const rowsOfB = await addTenantRows(lading.sql, resources, lading.b.id, 'Business B')

const keyOf = async (name: string): Promise<string> =>
  (await lading.sql<{ id: string }[]>`select id from internal.api_keys where name = ${name}`)[0]?.id ?? ''
const keyOfA = await keyOf('Business A warehouse')
const keyOfB = await keyOf('Business B warehouse')

const clients = {
  anon: lading.rest(null),
  warehouse: lading.rest(lading.a.warehouseKey),
  business: lading.a.rest,
  operator: lading.operator,
}

const dryRun = { Prefer: 'return=representation, tx=rollback' }
const representation = { Prefer: 'return=representation' }

/** By the foreign key, or by a rule of ours that asks earlier. */
const refusedReference = { status: 409, body: { code: expect.stringMatching(/^(23503|PT409)$/) } }

const snapshotOfB = async (): Promise<string> => {
  const contents = await Promise.all(
    [...tenants.map((table) => table.name), 'inventory_quantities', 'api_keys', 'businesses'].map(async (name) => [
      name,
      (await lading.b.rest.get(`/${name}`)).body,
    ]),
  )
  return JSON.stringify(contents)
}
const before = await snapshotOfB()

const idsOf = (rows: TenantRows, businessId: string, keyId: string): string[] => [
  businessId,
  keyId,
  ...Object.values(rows).map((row) => row.id),
]
const idsOfA = idsOf(rowsOfA, lading.a.id, keyOfA)
const idsOfB = idsOf(rowsOfB, lading.b.id, keyOfB)
const named = (ids: string[], body: unknown): string[] => {
  const text = JSON.stringify(body)
  return ids.filter((id) => text.includes(id))
}

const rowOf = (rows: TenantRows, resource: Resource): TenantRows[string] =>
  rows[resource.name] ?? { id: crypto.randomUUID() }

/** A change that changes nothing, so that only access decides. */
const sameAgain = (resource: Resource, row: Record<string, unknown>): Record<string, unknown> => {
  const column = resource.columns.find(({ name }) => !['id', 'business_id'].includes(name))?.name ?? 'id'
  return { [column]: row[column] ?? null }
}

const valuesOf = (resource: Resource, row: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(resource.columns.map(({ name }) => [name, row[name] ?? null]))

const call = (rest: RestClient, verb: Privilege, resource: Resource, row: Record<string, unknown> & { id: string }) => {
  const path = `/${resource.name}`
  const keyed = resource.columns.some(({ name }) => name === 'id') ? `${path}?id=eq.${row.id}` : path
  switch (verb) {
    case 'select':
      return rest.get(path)
    case 'insert':
      return rest.post(path, valuesOf(resource, row), dryRun)
    case 'update':
      return rest.patch(keyed, sameAgain(resource, row), dryRun)
    case 'delete':
      return rest.delete(keyed, dryRun)
  }
}

const verbs: Privilege[] = ['select', 'insert', 'update', 'delete']

describe.each(resources)('$name', (resource) => {
  test('without a key every verb is 401', async () => {
    for (const verb of verbs) {
      expect((await call(clients.anon, verb, resource, rowOf(rowsOfA, resource))).status, verb).toBe(401)
    }
  })

  test('with a warehouse key every verb is 403', async () => {
    for (const verb of verbs) {
      expect((await call(clients.warehouse, verb, resource, rowOf(rowsOfA, resource))).status, verb).toBe(403)
    }
  })

  test.each(['business', 'operator'] as const)('a verb that role %s is not granted is 403', async (role) => {
    for (const verb of verbs.filter((verb) => !resource.privileges[role]?.includes(verb))) {
      expect((await call(clients[role], verb, resource, rowOf(rowsOfA, resource))).status, verb).toBe(403)
    }
  })

  if (resource.privileges.business?.includes('select')) {
    test('a business lists nothing of another', async () => {
      const { status, body } = await clients.business.get(`/${resource.name}`)
      expect(status).toBe(200)
      expect(named(idsOfB, body)).toEqual([])
      const columns = resource.columns.filter(({ type }) => type === 'uuid')
      for (const { name } of columns) {
        const filtered = await clients.business.get(`/${resource.name}?${name}=in.(${idsOfB.join(',')})`)
        expect(filtered, name).toMatchObject({ status: 200, body: [] })
      }
    })

    test('nor counts it', async () => {
      const listed = await clients.business.get<unknown[]>(`/${resource.name}`)
      const counted = await clients.business.get(`/${resource.name}?limit=1`, { Prefer: 'count=exact' })
      expect(counted.headers.get('content-range')?.split('/')[1]).toBe(String(listed.body.length))
    })
  }

  if (resource.privileges.business?.includes('update')) {
    test('a business changes no row of another: none is there', async () => {
      const rowOfB = resource.name === 'businesses' ? { id: lading.b.id } : rowOf(rowsOfB, resource)
      const answer = await clients.business.patch(
        `/${resource.name}?id=eq.${rowOfB.id}`,
        sameAgain(resource, rowOf(rowsOfA, resource)),
        representation,
      )
      expect(answer).toMatchObject({ status: 200, body: [] })
    })
  }

  if (resource.privileges.business?.includes('delete')) {
    test('a business deletes no row of another: none is there', async () => {
      const path = `/${resource.name}?id=eq.${rowOf(rowsOfB, resource).id}`
      expect(await clients.business.delete(path, representation)).toMatchObject({ status: 200, body: [] })
    })
  }
})

describe.each(tenants)('$name of a business', (table) => {
  const path = `/${table.name}`
  const ownPath = `${path}?id=eq.${rowOf(rowsOfA, table).id}`
  const rowOfA = { ...rowOf(rowsOfA, table) }
  const rowOfB = { ...rowOf(rowsOfB, table) }
  const may = (verb: Privilege) => table.privileges.business?.includes(verb) === true
  const newRow = (businessId: string, rows: TenantRows) => ({
    ...makeRow(table, businessId, crypto.randomUUID(), rows),
    id: crypto.randomUUID(),
  })

  test('its own are seen by it, and those of all by an operator', async () => {
    expect(named([rowOfA.id], (await clients.business.get(path)).body)).toEqual([rowOfA.id])
    const seen = (await clients.operator.get(path)).body
    expect(named([rowOfA.id, rowOfB.id], seen)).toEqual([rowOfA.id, rowOfB.id])
  })

  if (may('insert')) {
    test('its own may be written: what follows fails for its ids only', async () => {
      const { status, body } = may('update')
        ? await clients.business.post(path, rowOfA, {
            Prefer: 'resolution=merge-duplicates, return=representation, tx=rollback',
          })
        : await clients.business.post(path, newRow(lading.a.id, rowsOfA), dryRun)
      expect([200, 201], JSON.stringify(body)).toContain(status)
    })

    test('a row for another business is refused: 403', async () => {
      for (const rows of [rowsOfB, rowsOfA]) {
        for (const headers of [representation, {}]) {
          expect((await clients.business.post(path, newRow(lading.b.id, rows), headers)).status).toBe(403)
        }
      }
    })

    test('the id of a row of another business is not taken over by an upsert, nor by a PUT', async () => {
      for (const row of [{ ...newRow(lading.a.id, rowsOfA), id: rowOfB.id }, rowOfB]) {
        const merged = await clients.business.post(path, row, { Prefer: 'resolution=merge-duplicates' })
        expect(merged.status).toBe(403)
      }
      const ignored = await clients.business.post(
        path,
        { ...newRow(lading.a.id, rowsOfA), id: rowOfB.id },
        { Prefer: 'resolution=ignore-duplicates,return=representation' },
      )
      expect(ignored.body).toEqual([])
      const whole = Object.fromEntries(table.columns.map(({ name }) => [name, rowOfB[name]]))
      expect((await clients.business.put(`${path}?id=eq.${rowOfB.id}`, whole)).status).toBe(403)
    })
  }

  if (may('update')) {
    test('a row cannot be given to another business, nor get the id of its row: 409', async () => {
      for (const change of [
        { business_id: lading.b.id },
        { id: rowOfB.id },
        { id: rowOfB.id, business_id: lading.b.id },
      ]) {
        for (const rest of [clients.business, clients.operator]) {
          expect((await rest.patch(ownPath, change)).status, JSON.stringify(change)).toBe(409)
        }
      }
    })

    test('a change of all rows changes its own only', async () => {
      const change = sameAgain(table, rowOfA)
      const { status, body } = await clients.business.patch(`${path}?business_id=not.is.null`, change, dryRun)
      if (status === 200) expect(named(idsOfB, body)).toEqual([])
      else expect(status, 'every row the same breaks a unique rule').toBe(409)
    })
  }

  for (const reference of table.references) {
    const column = reference.columns.findLast((name) => name !== 'business_id') ?? ''
    const foreign = references({ ...table, references: [reference] }, rowsOfB)
    if (table.columns.find(({ name }) => name === column)?.type !== 'uuid' || foreign[column] === undefined) continue
    delete foreign.business_id

    for (const role of ['business', 'operator'] as const) {
      if (may('insert')) {
        test(`${reference.name}: a new row of ${role} does not refer to ${column} of another business: 409`, async () => {
          const row = { ...newRow(lading.a.id, rowsOfA), ...foreign }
          expect(await clients[role].post(path, row, representation)).toMatchObject(refusedReference)
        })
      }
      if (may('update')) {
        test(`${reference.name}: a change by ${role} does not refer to ${column} of another business: 409`, async () => {
          expect(await clients[role].patch(ownPath, foreign, representation)).toMatchObject(refusedReference)
        })
      }
    }
  }
})

describe.each(calls)('rpc/$name', ({ name, privileges }) => {
  const sample = tenantCalls[name]
  const own = sample?.(rowsOfA, lading.a.id, keyOfA)
  const foreign = sample?.(rowsOfB, lading.b.id, keyOfB)

  test('has a sample in tenant_calls.ts, which is accepted', async () => {
    expect(sample).toBeDefined()
    for (const role of ['business', 'operator'] as const) {
      if (name.endsWith('application_key') || privileges[role] !== true) continue
      const { status, body } = await clients[role].rpc(name, own, { Prefer: 'tx=rollback' })
      expect([200, 204], JSON.stringify(body)).toContain(status)
    }
  })

  test('without a key: 401; without the privilege: 403', async () => {
    expect((await clients.anon.rpc(name, own)).status).toBe(401)
    expect((await clients.warehouse.rpc(name, own)).status).toBe(403)
    for (const role of ['business', 'operator'] as const) {
      if (privileges[role] !== true) expect((await clients[role].rpc(name, own)).status).toBe(403)
    }
  })

  test('is called by POST: by GET it changes nothing and shows no more, other verbs are 405', async () => {
    const query = new URLSearchParams(
      Object.entries(foreign ?? {}).map(([parameter, value]): [string, string] => [
        parameter,
        typeof value === 'string' ? value : JSON.stringify(value),
      ]),
    )
    const { status, body } = await clients.business.get(`/rpc/${name}?${query}`)
    expect([400, 403, 404, 405], JSON.stringify(body)).toContain(status)
    for (const answer of await Promise.all([
      clients.operator.patch(`/rpc/${name}`, own),
      clients.operator.put(`/rpc/${name}`, own),
      clients.operator.delete(`/rpc/${name}`),
    ])) {
      expect(answer.status).toBe(405)
    }
  })

  if (privileges.business === true) {
    test('for another business it is refused', async () => {
      expect(await clients.business.rpc(name, foreign)).toMatchObject({ status: expect.toSatisfy(isRefusal) })
    })

    test('an id of another business in any place is refused or not found', async () => {
      const replacements = new Map(idsOfA.map((id, n) => [id, idsOfB[n] ?? '']))
      for (const [place, mixed] of withOneReplaced(own, replacements)) {
        const { status, body } = await clients.business.rpc(name, mixed)
        const found = isRefusal(status) ? [] : named(idsOfB, body)
        expect(found, `${place}: ${status} ${JSON.stringify(body)}`).toEqual([])
      }
    })
  }
})

function isRefusal(status: number): boolean {
  return [400, 403, 404, 409].includes(status)
}

/** The same value once for each place that holds one of the keys of `replacements`, replaced there. */
function withOneReplaced(value: unknown, replacements: Map<string, string>, place = ''): [string, unknown][] {
  if (typeof value === 'string') {
    const replacement = replacements.get(value)
    return replacement === undefined ? [] : [[place, replacement]]
  }
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, inner]) =>
    withOneReplaced(inner, replacements, `${place}/${key}`).map(([path, changed]): [string, unknown] => [
      path,
      Array.isArray(value) ? value.with(Number(key), changed) : { ...value, [key]: changed },
    ]),
  )
}

test('after all this every record of the other business is as it was', async () => {
  expect(await snapshotOfB()).toBe(before)
})
