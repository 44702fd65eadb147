import { describe, expect, test } from 'vitest'
import { addItem, addLocation, adjust, type Item, ledgerOf, quantitiesOf, succeeded, verify } from '../builders.ts'
import { startLading } from '../harness/lading.ts'

const { a } = await startLading()
const location = await addLocation(a)
const times = <Result>(count: number, act: (n: number) => Promise<Result>) =>
  Promise.all(Array.from({ length: count }, (_, n) => act(n)))

const one = (item: Item, fields: object = {}) => ({
  sku: item.sku,
  location_id: location,
  inventory_status: 'available_to_sell',
  quantity: 1,
  ...fields,
})

describe('writers of the same quantities', () => {
  test('16 at once, in opposite order, over the same items: no deadlock, sums right', async () => {
    const items = await times(12, () => addItem(a))
    const answers = await times(16, async (n) => {
      const statuses: number[] = []
      for (let round = 0; round < 4; round++) {
        const ordered = n % 2 === 0 ? items : [...items].reverse()
        statuses.push(
          (
            await adjust(
              a,
              ordered.map((item) => one(item)),
            )
          ).status,
        )
      }
      return statuses
    })
    expect(answers.flat()).toEqual(Array(64).fill(200))
    for (const item of items) expect(await quantitiesOf(a, item, location)).toMatchObject({ available_to_sell: 64 })
  })

  test('items that have no quantities yet, in overlapping parts and opposite order: no deadlock', async () => {
    for (let round = 0; round < 5; round++) {
      const items = await times(10, () => addItem(a))
      const answers = await times(16, (n) => {
        const part = items.filter((_, index) => n % 4 === 0 || (index + n) % 3 !== 0)
        return adjust(
          a,
          (n % 2 === 0 ? part : part.reverse()).map((item) => one(item)),
        )
      })
      expect(answers.map(({ status, body }) => (status === 200 ? status : body))).toEqual(Array(16).fill(200))
    }
    expect(await verify(a)).toEqual([])
  })

  test('quantity_after tells one story: each entry continues from the one before', async () => {
    const item = await addItem(a)
    await times(16, (n) => adjust(a, [one(item, { quantity: n + 1 }), one(item, { quantity: -n })]))
    const entries = await ledgerOf(a, `inventory_item_id=eq.${item.id}`)
    expect(entries).toHaveLength(32)
    const afters = new Set(entries.map(({ quantity_after }) => quantity_after))
    for (const { quantity, quantity_after } of entries) {
      expect(quantity_after === quantity || afters.has(quantity_after - quantity)).toBe(true)
    }
    expect(await quantitiesOf(a, item, location)).toMatchObject({ available_to_sell: 16 })
  })

  test('SET by many: the last one counts, and the ledger adds up to it', async () => {
    const item = await addItem(a)
    await times(16, (n) => adjust(a, [one(item, { operation: 'SET', quantity: n * 10 })]))
    const { available_to_sell } = await quantitiesOf(a, item, location)
    const entries = await ledgerOf(a, `inventory_item_id=eq.${item.id}`)
    expect(entries.reduce((sum, { quantity }) => sum + quantity, 0)).toBe(available_to_sell)
  })

  test('committed is taken by as many as there are units, refused to the rest', async () => {
    const item = await addItem(a)
    succeeded(await adjust(a, [one(item, { inventory_status: 'committed', quantity: 7 })]))
    const answers = await times(16, () => adjust(a, [one(item, { inventory_status: 'committed', quantity: -1 })]))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(7)
    expect(answers.filter(({ status }) => status === 400)).toHaveLength(9)
    expect(await quantitiesOf(a, item, location)).toMatchObject({ committed: 0 })
  })

  test('the same idempotent_key 20 times at once: made once, a duplicate 19 times', async () => {
    const item = await addItem(a)
    const answers = await times(20, () => adjust(a, [one(item, { quantity: 5, idempotent_key: 'at-once' })]))
    const bodies = answers.map(succeeded)
    expect(bodies.reduce((sum, { adjusted }) => sum + adjusted, 0)).toBe(1)
    expect(bodies.reduce((sum, { duplicates }) => sum + duplicates, 0)).toBe(19)
    expect(await quantitiesOf(a, item, location)).toMatchObject({ available_to_sell: 5 })
  })

  test('the same key for different content at once: one made, the others refused', async () => {
    const item = await addItem(a)
    const answers = await times(10, (n) => adjust(a, [one(item, { quantity: n + 1, idempotent_key: 'contested' })]))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(9).fill(409)])
  })

  test('several keys in opposite order at once: no deadlock, each made once', async () => {
    const item = await addItem(a)
    const keys = Array.from({ length: 8 }, (_, n) => `key-${n}`)
    const answers = await times(16, (n) =>
      adjust(
        a,
        (n % 2 === 0 ? keys : [...keys].reverse()).map((idempotent_key) => one(item, { idempotent_key })),
      ),
    )
    expect(answers.map(({ status }) => status)).toEqual(Array(16).fill(200))
    expect(await quantitiesOf(a, item, location)).toMatchObject({ available_to_sell: 8 })
  })
})
