import { expect, test } from 'vitest'
import { startLading } from '../harness/lading.ts'
import { tables } from './contract.ts'
import { makeSamples } from './samples.ts'

const lading = await startLading()
const { rows } = await makeSamples(lading, lading.a)
const changeable = Object.keys(tables).filter((name) => !['businesses', 'order_activities'].includes(name))

test.each(changeable)('%s: a record keeps its id and its business, for operators too: 409', async (resource) => {
  const path = `/${resource}?id=eq.${rows[resource]?.id}`
  for (const change of [{ id: crypto.randomUUID() }, { business_id: lading.b.id }]) {
    for (const rest of [lading.a.rest, lading.operator]) {
      expect(await rest.patch(path, change)).toMatchObject({
        status: 409,
        body: { code: 'PT409', message: 'id and business_id of a record cannot change' },
      })
    }
  }
})

test('naming them without changing them is no change', async () => {
  const same = { id: rows.orders?.id, business_id: lading.a.id, status: 'hold' }
  const answer = await lading.a.rest.patch(`/orders?id=eq.${same.id}`, same, { Prefer: 'return=representation' })
  expect(answer).toMatchObject({ status: 200, body: [same] })
})
