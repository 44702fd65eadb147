import fc from 'fast-check'
import { beforeAll, expect, test } from 'vitest'
import { addItem, addLocation, type Item, stock, verify } from '../builders.ts'
import { startLading } from '../harness/lading.ts'
import { type CallbackAnswer, postCallback } from './callback.ts'
import { addStep } from './scenario.ts'

const bodies = 10_000
const inBatchesOf = 1_000
const connections = 16

const lading = await startLading()
const { a, sql } = lading

let items: Item[]
let location: string
let unmapped: string
let step: string
let virtual: string
beforeAll(async () => {
  items = [await addItem(a), await addItem(a)]
  ;[location, unmapped, virtual] = [
    await addLocation(a),
    await addLocation(a),
    await addLocation(a, { is_virtual: true }),
  ]
  step = await addStep(a, [location], { virtual_location_id: virtual })
  for (const item of items) await stock(a, item, location, 1_000_000)
})

interface Target {
  order: string
  fulfillment: string
  lines: string[]
  status: string
}

/** Fresh orders, each with one fulfillment of two lines. */
const addTargets = (count: number): Promise<Target[]> =>
  sql.begin(async (transaction) => {
    const run = crypto.randomUUID()
    await transaction`
      insert into api.orders (business_id, purchase_order_number)
      select ${a.id}, ${run} || '/' || n from generate_series(1, ${count}) n`
    await transaction`
      insert into api.order_line_items (business_id, order_id, inventory_item_id, quantity)
      select o.business_id, o.id, item, 10
      from api.orders o, unnest(${items.map(({ id }) => id)}::uuid[]) item
      where o.purchase_order_number like ${`${run}/%`}`
    await transaction`
      insert into api.fulfillments (business_id, order_id, location_id, status, additional_fields)
      select business_id, id, ${location}, 'PENDING',
        jsonb_build_object('warehouse_order_id', 'W ' || id, 'carton', '{"size": {"width": 1}}'::jsonb)
      from api.orders where purchase_order_number like ${`${run}/%`}`
    await transaction`
      insert into api.fulfillment_line_items (business_id, fulfillment_id, order_line_item_id, inventory_item_id, quantity)
      select f.business_id, f.id, l.id, l.inventory_item_id, 10
      from api.fulfillments f
      join api.orders o on o.id = f.order_id
      join api.order_line_items l on l.order_id = o.id
      where o.purchase_order_number like ${`${run}/%`}`
    await transaction`
      update api.fulfillments f
      set status = (array['OPEN', 'BACKORDER', 'SUCCESS', 'CANCELED'])[1 + abs(hashtext(f.id::text)) % 4]::api.fulfillment_status
      from api.orders o
      where o.id = f.order_id and o.purchase_order_number like ${`${run}/%`} and abs(hashtext(o.id::text)) % 3 = 0`
    return transaction<Target[]>`
      select o.id as order, f.id as fulfillment, f.status, array_agg(l.id::text) as lines
      from api.orders o
      join api.fulfillments f on f.order_id = o.id
      join api.fulfillment_line_items l on l.fulfillment_id = f.id
      where o.purchase_order_number like ${`${run}/%`}
      group by 1, 2, 3`
  })

/** A checksum of all that belongs to each order, and how many rows there are of everything. */
const readState = async (targets: Target[]) => {
  const orders = targets.map(({ order }) => order)
  const rows = await sql<{ order: string; sum: string }[]>`
    select o.id as order, concat_ws('|',
      hashtextextended(o::text, 0),
      (select string_agg(l::text, ',' order by l.id) from api.order_line_items l where l.business_id = o.business_id and l.order_id = o.id),
      (select string_agg(f::text, ',' order by f.id) from api.fulfillments f where f.business_id = o.business_id and f.order_id = o.id),
      (select string_agg(l::text, ',' order by l.id)
        from api.fulfillments f
        join api.fulfillment_line_items l on l.business_id = f.business_id and l.fulfillment_id = f.id
        where f.business_id = o.business_id and f.order_id = o.id),
      (select count(*) from api.order_activities v where v.business_id = o.business_id and v.order_id = o.id)
    ) as sum
    from api.orders o where o.id = any (${orders}::uuid[])`
  const [counts] = await sql<
    { messages: string; ledger: string; fulfillments: string; activities: string; queued: string }[]
  >`
    select (select count(*) from internal.callback_messages) as messages,
      (select count(*) from api.inventory_adjustments) as ledger,
      (select count(*) from api.fulfillments) as fulfillments,
      (select count(*) from api.order_activities) as activities,
      (select count(*) from internal.queued_callbacks) as queued`
  if (counts === undefined) throw new Error('nothing was counted')
  return { orders: new Map(rows.map(({ order, sum }) => [order, sum])), counts }
}

type Json = null | boolean | number | string | Json[] | { [key: string]: Json }

const validMessage = (target: Target, kind: number): Json => {
  const [first, second] = items
  const lineItems: Json[] = [
    kind % 2 === 0 ? { sku: first?.sku ?? '', quantity: 10 } : { id: target.lines[0] ?? '', quantity: 10 },
    {
      sku: second?.sku ?? '',
      quantity: kind % 3 === 0 ? 10 : 4,
      vendor: 'Acme',
      price: 5,
      additionalFields: [{ name: 'lot', value: 'L' }],
    },
  ]
  if (kind % 11 === 0) return { warehouseOrderId: `W ${target.order}`, rejectionReason: 'no' }
  if (kind % 13 === 0) return { warehouseOrderId: `W ${target.order}`, cancellationReason: 'no' }
  return {
    orderUpdate: {
      id: target.order,
      fulfillments: [
        {
          ...(kind % 5 === 0 ? { id: target.fulfillment } : {}),
          locationId: location,
          status: ['OPEN', 'SUCCESS', 'CANCELED', 'BACKORDER', 'PENDING', 'OPEN', 'NEW'][kind % 7] ?? 'OPEN',
          trackingNumber: 'T1',
          trackingUrls: ['https://track.example/T1'],
          shippedAt: '2026-02-03T04:05:06Z',
          shippingCompany: 'Ocean Line',
          additionalFields: [{ name: 'warehouse_order_id', value: `W ${target.order}` }],
          carton: { size: { height: 2 } },
          lineItems,
        },
        { locationId: unmapped, status: 'OPEN', lineItems: [{ sku: 'x', quantity: 1 }] },
      ],
    },
    fulfillmentOptions: { partialShipments: kind % 4 === 0 },
  }
}

const oddValues: Json[] = [
  null,
  true,
  false,
  0,
  -1,
  1,
  3,
  9,
  11,
  0.5,
  1e9,
  2_147_483_648,
  1e300,
  -1e-7,
  '',
  ' ',
  '10',
  'OPEN',
  'NEW',
  'SUCCESS',
  'null',
  '\u0000',
  '\ud800',
  '💥',
  "'; drop table api.orders; --",
  'x'.repeat(3000),
  '2026-02-30T00:00:00Z',
  '99999-01-01T00:00:00Z',
  '0000-01-01T00:00:00Z',
  [],
  {},
  [[]],
  [null],
  [{}],
  { name: 'a' },
  { __proto__: null, constructor: 1 },
  '00000000-0000-0000-0000-000000000000',
]

const paths = (value: Json, path: (string | number)[] = []): (string | number)[][] => {
  if (typeof value !== 'object' || value === null) return [path]
  const children: [string | number, Json][] = Array.isArray(value)
    ? value.map((child, n) => [n, child])
    : Object.entries(value)
  return [path, ...children.flatMap(([key, child]) => paths(child, [...path, key]))]
}

interface Mutation {
  at: number
  how: 'replace' | 'remove' | 'duplicate' | 'rename' | 'nest'
  value: Json
}

/** The value with what is at the path replaced by `change` of it; undefined removes it. */
const changeAt = (
  value: Json,
  [key, ...rest]: (string | number)[],
  change: (old: Json) => Json | undefined,
): Json | undefined => {
  if (key === undefined) return change(value)
  if (Array.isArray(value)) {
    return value.flatMap((child, n) => {
      if (n !== key) return [child]
      const changed = changeAt(child, rest, change)
      return changed === undefined ? [] : [changed]
    })
  }
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, child]) => {
      if (name !== key) return [[name, child]]
      const changed = changeAt(child, rest, change)
      return changed === undefined ? [] : [[name, changed]]
    }),
  )
}

const mutate = (message: Json, { at, how, value }: Mutation): Json => {
  const all = paths(message)
  const path = all[at % all.length] ?? []
  const change = (old: Json): Json | undefined => {
    switch (how) {
      case 'replace':
        return value
      case 'remove':
        return undefined
      case 'duplicate':
        return Array.isArray(old) ? [...old, ...old] : [old, old]
      case 'rename':
        return typeof old === 'object' && old !== null && !Array.isArray(old)
          ? Object.fromEntries(Object.entries(old).map(([name, child]) => [name.toLowerCase(), child]))
          : value
      case 'nest':
        return { nested: old, value }
    }
  }
  return changeAt(message, path, change) ?? null
}

const mutation: fc.Arbitrary<Mutation> = fc.record({
  at: fc.nat(1000),
  how: fc.constantFrom('replace', 'replace', 'remove', 'duplicate', 'rename', 'nest'),
  value: fc.oneof(fc.constantFrom(...oddValues), fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<Json>),
})
const recipe = fc.record({
  kind: fc.nat(1000),
  mutations: fc.array(mutation, { minLength: 0, maxLength: 3 }),
  text: fc.oneof(
    { weight: 11, arbitrary: fc.constant(null) },
    {
      weight: 1,
      arbitrary: fc.record({
        at: fc.nat(2000),
        with: fc.constantFrom('', '}', '"', ',', '1e9999', '\u0000', '\\u0000', '\\ud800', '-'),
      }),
    },
  ),
})

const breakText = (text: string, { at, with: piece }: { at: number; with: string }): string => {
  const position = at % (text.length + 1)
  return text.slice(0, position) + piece + text.slice(position + 1)
}

test(`${bodies} mutated bodies: only 200, 204 and 4xx; all but 200 leave every table as it was`, {
  timeout: 300_000,
}, async () => {
  const seen: Record<number, number> = {}
  const recipes = fc.sample(recipe, { numRuns: bodies, seed: Number(process.env.FUZZ_SEED ?? 20_261_121) })
  // what a message has left as it was serves the next batch too
  let targets: Target[] = []
  for (let start = 0; start < bodies; start += inBatchesOf) {
    targets.push(...(await addTargets(inBatchesOf - targets.length)))
    const sent = targets.map((target, n) => {
      const { kind, mutations, text } = recipes[start + n] ?? { kind: 0, mutations: [], text: null }
      const body = JSON.stringify(mutations.reduce(mutate, validMessage(target, kind))) ?? 'null'
      return text === null ? body : breakText(body, text)
    })
    const before = await readState(targets)

    const answers: CallbackAnswer[] = []
    let next = 0
    await Promise.all(
      Array.from({ length: connections }, async () => {
        for (let n = next++; n < sent.length; n = next++) answers[n] = await postCallback(lading, step, sent[n])
      }),
    )

    const after = await readState(targets)
    let changed = 0
    for (const [n, { status, text }] of answers.entries()) {
      seen[status] = (seen[status] ?? 0) + 1
      const order = targets[n]?.order ?? ''
      const context = `${status} ${text}\n${sent[n]}`
      expect([200, 204, 400], context).toContain(status)
      if (status === 400) expect(text, context).toMatch(/^[^\n]+$/)
      if (status !== 200) expect(after.orders.get(order), context).toBe(before.orders.get(order))
      else changed++
    }
    if (changed === 0) expect(after.counts).toEqual(before.counts)
    targets = targets.filter((_, n) => answers[n]?.status !== 200)
    const results = answers.flatMap(({ updateResult }) => updateResult ?? [])
    const counted = (name: keyof (typeof results)[number]) => results.reduce((sum, result) => sum + result[name], 0)
    expect(Number(after.counts.ledger) - Number(before.counts.ledger)).toBe(
      counted('inventoryAdjustmentCount') + counted('inventorySetCount'),
    )
    expect(Number(after.counts.activities) - Number(before.counts.activities)).toBe(counted('orderActivityCount'))
    expect(Number(after.counts.queued)).toBe(0)
  }
  console.info(`answers to mutated bodies: ${JSON.stringify(seen)}`)
  expect(seen[200]).toBeGreaterThan(bodies / 10)
  expect(seen[400]).toBeGreaterThan(bodies / 5)
  expect(await verify(a)).toEqual([])
})
