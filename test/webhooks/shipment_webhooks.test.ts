import { describe, expect, test } from 'vitest'
import { startLading } from '../harness/lading.ts'

const lading = await startLading()

describe.each([
  ['shipment_webhooks', 'shipment_id', 'shipment.created', 'shipment_json'],
  ['shipment_receipt_webhooks', 'shipment_receipt_id', 'shipment_receipt.created', 'shipment_receipt_json'],
])('%s', (resource, reference, action, json) => {
  const create = (row: Record<string, unknown>) =>
    lading.a.rest.post<Record<string, unknown>[]>(
      `/${resource}`,
      { business_id: lading.a.id, [reference]: crypto.randomUUID(), action, ...row },
      { Prefer: 'return=representation' },
    )

  test('an event is ready, with the transaction that made it, unless told', async () => {
    const { body } = await create({ [json]: { id: 'x' } })
    expect(body).toMatchObject([{ status: 'ready', action, [json]: { id: 'x' } }])
    expect(Number(body[0]?.transaction_id)).toBeGreaterThan(0)
    expect(await create({ transaction_id: 7, status: 'sent' })).toMatchObject({
      body: [{ transaction_id: 7, status: 'sent' }],
    })
  })

  test('it may be of a record that is gone', async () => {
    expect((await create({})).status).toBe(201)
  })

  test('ready and sent are its only states: 400', async () => {
    expect((await create({ status: 'lost' })).status).toBe(400)
  })

  test('its action is one of its object: 400', async () => {
    const other = action.startsWith('shipment_receipt') ? 'shipment.created' : 'shipment_receipt.created'
    expect((await create({ action: other })).status).toBe(400)
  })
})
