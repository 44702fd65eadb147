import { expect, test } from 'vitest'
import { startLading } from '../harness/lading.ts'

interface Step {
  id: string
  callback_url: string
}

const lading = await startLading()
const create = (row: Record<string, unknown> = {}) =>
  lading.a.rest.post<Step[]>(
    '/process_shipments_steps',
    { business_id: lading.a.id, ...row },
    { Prefer: 'return=representation' },
  )
const addressOf = (id: string | undefined) => `${lading.baseUrl}/v1/suppliers/${id}/callbacks`

test('callback_url is the public address with the id of the step', async () => {
  const [step] = (await create()).body
  expect(step?.callback_url).toBe(addressOf(step?.id))
})

test('whatever a client sends is ignored, at creation and later', async () => {
  const [step] = (await create({ callback_url: 'https://elsewhere.example' })).body
  expect(step?.callback_url).toBe(addressOf(step?.id))
  const changed = await lading.a.rest.patch<Step[]>(
    `/process_shipments_steps?id=eq.${step?.id}`,
    { callback_url: 'https://elsewhere.example' },
    { Prefer: 'return=representation' },
  )
  expect(changed.body[0]?.callback_url).toBe(addressOf(step?.id))
})
