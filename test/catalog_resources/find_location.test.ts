import { expect, test } from 'vitest'
import { startLading } from '../harness/lading.ts'

const lading = await startLading()
const [hall] = await lading.sql<{ id: string }[]>`
  insert into api.locations (business_id, name, legacy_id) values (${lading.a.id}, 'Hall', 17) returning id`
await lading.sql`insert into api.locations (business_id, name, legacy_id) values (${lading.b.id}, 'Yard', 18)`

const find = async (businessId: string, written: string): Promise<unknown> =>
  (await lading.sql`select internal.find_location(${businessId}::uuid, ${written}) as id`)[0]?.id

test('a location is found by its id, or by its legacy_id as text', async () => {
  expect(await find(lading.a.id, hall?.id ?? '')).toBe(hall?.id)
  expect(await find(lading.a.id, hall?.id.toUpperCase() ?? '')).toBe(hall?.id)
  expect(await find(lading.a.id, '17')).toBe(hall?.id)
})

test.each(['18', '017', '+17', ' 17', '17.0', '', 'Hall', '99999999999999999999', '0x11'])(
  '"%s" finds none: another business has it, or it is not how the number is written',
  async (written) => {
    expect(await find(lading.a.id, written)).toBeNull()
  },
)

test('the id of a location is not found in another business', async () => {
  expect(await find(lading.b.id, hall?.id ?? '')).toBeNull()
})
