import { expect, test } from 'vitest'
import { startLading } from '../harness/lading.ts'

const lading = await startLading()

test('the actions that webhooks can be subscribed to', async () => {
  const { status, body } = await lading.a.rest.get<{ action: string }[]>('/webhook_actions?order=action')
  expect(status).toBe(200)
  expect(body.map(({ action }) => action)).toEqual([
    'shipment.created',
    'shipment.deleted',
    'shipment.updated',
    'shipment.updated.status',
    'shipment_receipt.completed',
    'shipment_receipt.created',
    'shipment_receipt.deleted',
    'shipment_receipt.updated',
  ])
})

test('each names its resource and says when it fires', async () => {
  const { body } = await lading.a.rest.get<Record<string, string>[]>('/webhook_actions')
  for (const { action, resource, description } of body) {
    expect(`${action?.split('.')[0]}s`).toBe(resource)
    expect(description).toMatch(/\w/)
  }
})
