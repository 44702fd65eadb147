import { expect, test } from 'vitest'
import { startLading } from '../harness/lading.ts'

const lading = await startLading()
const business_id = lading.a.id
const setPublicUrl = (url: string) => lading.sql`select internal.set_public_url(${url})`

test('the addresses of steps and of webhooks follow the public address; foreign producers stay', async () => {
  await setPublicUrl(lading.baseUrl)
  await lading.a.rest.post('/process_shipments_steps', { business_id })
  await lading.a.rest.post('/webhook_configurations', [
    { business_id, name: 'ours', hook_consumer_url: 'https://consumer.example', producer_url: null },
    {
      business_id,
      name: 'theirs',
      hook_consumer_url: 'https://consumer.example',
      producer_url: 'https://relay.example',
    },
  ])

  await setPublicUrl('https://lading.example/')

  const [step] = (await lading.a.rest.get<{ id: string; callback_url: string }[]>('/process_shipments_steps')).body
  expect(step?.callback_url).toBe(`https://lading.example/v1/suppliers/${step?.id}/callbacks`)
  const { body } = await lading.a.rest.get('/webhook_configurations?select=name,producer_url&order=name')
  expect(body).toEqual([
    { name: 'ours', producer_url: 'https://lading.example/v1/deliveries' },
    { name: 'theirs', producer_url: 'https://relay.example' },
  ])
})

test.each(['', 'lading.example', 'ftp://lading.example', 'https://a b'])('"%s" is refused', async (url) => {
  await expect(setPublicUrl(url)).rejects.toMatchObject({ code: 'PT400' })
})
