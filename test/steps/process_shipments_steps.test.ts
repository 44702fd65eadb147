import { expect, test } from 'vitest'
import { startLading } from '../harness/lading.ts'

const lading = await startLading()
const create = (row: Record<string, unknown>) =>
  lading.a.rest.post('/process_shipments_steps', { business_id: lading.a.id, ...row })

test('callbacks are always authenticated: 400', async () => {
  expect((await create({ is_authenticated: false })).status).toBe(400)
})

test.each(['STAGING', 'PRODUCTION'])('version %s', async (version) => {
  expect((await create({ version })).status).toBe(201)
})

test.each(['production', 'TEST', null])('version %s is refused: 400', async (version) => {
  expect((await create({ version })).status).toBe(400)
})
