import { expect, test } from 'vitest'
import { startLading } from '../harness/lading.ts'

const lading = await startLading()
const create = (row: Record<string, unknown>) =>
  lading.a.rest.post('/send_orders_steps', { business_id: lading.a.id, ...row })

await lading.a.rest.post('/locations', { business_id: lading.a.id, name: 'Hall', legacy_id: 1 })

test('every mapped location needs an address: its webhookUrl or the payload_url of the step: 400', async () => {
  const bare = [{ locationId: '1' }]
  expect((await create({ warehouse_location_map: bare })).status).toBe(400)
  expect((await create({ warehouse_location_map: [{ locationId: '1', webhookUrl: null }] })).status).toBe(400)
  expect((await create({ warehouse_location_map: bare, payload_url: 'https://w.example' })).status).toBe(201)
  const addressed = [{ locationId: '1', webhookUrl: 'https://w.example' }]
  expect((await create({ warehouse_location_map: addressed })).status).toBe(201)
})

test.each(['warehouse.example', 'ftp://w.example', 'http://', 'http://a b', '//w.example', ''])(
  'payload_url "%s" is refused: 400',
  async (payload_url) => {
    expect((await create({ payload_url })).status).toBe(400)
  },
)
