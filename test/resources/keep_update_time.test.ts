import { expect, test } from 'vitest'
import { startLading } from '../harness/lading.ts'
import { tables } from './contract.ts'
import { makeSamples } from './samples.ts'

const lading = await startLading()
const { rows } = await makeSamples(lading, lading.a)
const representation = { Prefer: 'return=representation' }
const changeable = Object.keys(tables).filter((name) => name !== 'order_activities')

const changes: Record<string, Record<string, unknown>> = {
  fulfillment_line_items: { vendor: 'changed' },
  order_line_items: { vendor: 'changed' },
  shipment_packages: { carton_id: 'changed' },
  shipment_receipt_items: { comment: 'changed' },
  shipment_webhooks: { status: 'sent' },
  shipment_receipt_webhooks: { status: 'sent' },
  shipments: { carrier: 'changed' },
  webhook_configuration_actions: { capture_snapshot: true },
  shipment_receipts: { external_ids: { changed: true } },
  product_data: { image: 'changed' },
  inventory_items: { title: 'changed' },
  fulfillments: { tracking_number: 'changed' },
  orders: { canceled_reason: 'changed' },
}

test.each(changeable)('%s: update_time is the time of the last change, whatever a client sends', async (resource) => {
  const path = `/${resource}?id=eq.${resource === 'businesses' ? lading.a.id : rows[resource]?.id}`
  const change = { ...(changes[resource] ?? { name: 'changed' }), update_time: '2000-01-01T00:00:00Z' }
  const { status, body } = await lading.a.rest.patch<{ update_time: string }[]>(path, change, representation)
  expect(status, JSON.stringify(body)).toBe(200)
  expect(Math.abs(Date.parse(body[0]?.update_time ?? '') - Date.now())).toBeLessThan(60_000)
})

test('a change to what is there already leaves it as it is', async () => {
  const [address] = (
    await lading.a.rest.post<{ id: string }[]>(
      '/addresses',
      { business_id: lading.a.id, city: 'Bremen' },
      representation,
    )
  ).body
  const answer = await lading.a.rest.patch(`/addresses?id=eq.${address?.id}`, { city: 'Bremen' }, representation)
  expect(answer).toMatchObject({ body: [{ city: 'Bremen', update_time: null }] })
})
