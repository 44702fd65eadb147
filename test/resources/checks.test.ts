import { expect, test } from 'vitest'
import { startLading } from '../harness/lading.ts'
import { makeSamples } from './samples.ts'

const lading = await startLading()
const { minimal } = await makeSamples(lading, lading.a)

test.each([
  ['channels', 'name', ''],
  ['locations', 'name', ''],
  ['inventory_items', 'sku', ''],
  ['product_data', 'sku', ''],
  ['shipments', 'shipment_number', ''],
  ['order_activities', 'title', ''],
  ['order_line_items', 'quantity', -1],
  ['shipment_items', 'quantity', 0],
  ['shipment_items', 'quantity', -1],
  ['shipment_receipt_items', 'quantity', 0],
  ['shipment_receipt_items', 'quantity', -1],
  ['fulfillment_line_items', 'quantity', 0],
  ['fulfillment_line_items', 'quantity', -1],
  ['order_line_items', 'quantity', 1.5],
  ['order_line_items', 'quantity', 2_147_483_648],
  ['shipment_webhooks', 'action', 'shipment_receipt.created'],
  ['shipment_receipt_webhooks', 'action', 'shipment.created'],
  ['webhook_configurations', 'hook_consumer_url', 'ftp://consumer.example'],
  ['webhook_configurations', 'hook_consumer_url', 'http://'],
  ['webhook_configurations', 'producer_url', 'javascript:alert(1)'],
  ['process_shipments_steps', 'is_authenticated', false],
])('%s.%s does not take %j: 400', async (resource, field, value) => {
  const answer = await lading.a.rest.post(`/${resource}`, { ...minimal(resource), [field]: value })
  expect(answer).toMatchObject({ status: 400, body: { message: expect.stringMatching(/./) } })
})

test.each([
  ['shipment_webhooks', 'shipment.arrived'],
  ['shipment_receipt_webhooks', 'shipment_receipt.lost'],
  ['webhook_configuration_actions', 'order.created'],
])('%s does not take the unknown action %s: 409', async (resource, action) => {
  expect((await lading.a.rest.post(`/${resource}`, { ...minimal(resource), action })).status).toBe(409)
})

test('order activities are append-only: 403 on changes, for operators too', async () => {
  await lading.a.rest.post('/order_activities', minimal('order_activities'))
  for (const rest of [lading.a.rest, lading.operator]) {
    expect((await rest.patch('/order_activities?title=not.is.null', { title: 'x' })).status).toBe(403)
    expect((await rest.delete('/order_activities?title=not.is.null')).status).toBe(403)
  }
})

test('an item goes in a package of its own shipment: 409 otherwise', async () => {
  const [shipment] = (
    await lading.a.rest.post<{ id: string }[]>('/shipments', minimal('shipments'), { Prefer: 'return=representation' })
  ).body
  const [elsewhere] = (
    await lading.a.rest.post<{ id: string }[]>('/shipment_packages', minimal('shipment_packages'), {
      Prefer: 'return=representation',
    })
  ).body
  const item = { ...minimal('shipment_items'), shipment_id: shipment?.id, shipment_package_id: elsewhere?.id }
  expect((await lading.a.rest.post('/shipment_items', item)).status).toBe(409)
})
