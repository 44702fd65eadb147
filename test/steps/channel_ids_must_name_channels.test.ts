import { expect, test } from 'vitest'
import { startLading } from '../harness/lading.ts'

const lading = await startLading()
const representation = { Prefer: 'return=representation' }

const addChannel = async (business: typeof lading.a, name: string): Promise<string> => {
  const row = { business_id: business.id, name }
  const { body } = await business.rest.post<{ id: string }[]>('/channels', row, representation)
  return body[0]?.id ?? ''
}
const shop = await addChannel(lading.a, 'Shop')
const foreign = await addChannel(lading.b, 'Foreign')

const create = (channel_ids: unknown) =>
  lading.a.rest.post<{ id: string }[]>(
    '/process_shipments_steps',
    { business_id: lading.a.id, channel_ids },
    representation,
  )

test('a step is limited to channels of its business', async () => {
  expect(await create([shop])).toMatchObject({ status: 201, body: [{ channel_ids: [shop] }] })
})

test('a channel of another business is refused as an unknown one: 400', async () => {
  for (const id of [foreign, crypto.randomUUID()]) {
    const message = `channel_ids[1]: no channel "${id}"`
    expect(await create([shop, id])).toMatchObject({ status: 400, body: { message } })
  }
})

test('null is no channel: 400', async () => {
  expect(await create([null])).toMatchObject({ status: 400, body: { message: 'channel_ids[0]: no channel "null"' } })
})

test('a change is checked too', async () => {
  const [step] = (await create([])).body
  const path = `/process_shipments_steps?id=eq.${step?.id}`
  expect((await lading.a.rest.patch(path, { channel_ids: [foreign] })).status).toBe(400)
  expect((await lading.a.rest.patch(path, { channel_ids: [shop] })).status).toBe(204)
})

test('a channel that a step is limited to is not deleted, for without it the step would take all orders: 409', async () => {
  const channel = await addChannel(lading.a, 'Named')
  const [step] = (await create([channel])).body
  expect((await lading.a.rest.delete(`/channels?id=eq.${channel}`)).status).toBe(409)
  expect((await lading.a.rest.delete(`/process_shipments_steps?id=eq.${step?.id}`)).status).toBe(204)
  expect((await lading.a.rest.delete(`/channels?id=eq.${channel}`)).status).toBe(204)
})
