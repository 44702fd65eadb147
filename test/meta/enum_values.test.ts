import { expect, test } from 'vitest'
import { startLading } from '../harness/lading.ts'

const lading = await startLading()

const enums: Record<string, string> = {
  activity_result: 'SUCCESS WARNING ERROR UNCHANGED',
  adjustment_operation: 'ADJUST SET',
  fulfillment_status: 'NEW PENDING OPEN SUCCESS CANCELED BACKORDER',
  inventory_status: 'available_to_sell committed on_hold on_order reserve incoming unavailable',
  order_status: 'open in_progress closed canceled pending hold',
  order_type: 'sales_order purchase_order stock_transfer_order',
  shipment_status: 'unshipped shipped closed canceled',
  step_version: 'STAGING PRODUCTION',
  webhook_delivery_state: 'pending sending delivered failed canceled',
  webhook_status: 'ready sent',
}

test('every enum of the interface with its values, in their order', async () => {
  const { status, body } = await lading.a.rest.get<{ enum_type: string; enum_value: string; enum_order: number }[]>(
    '/enum_values?order=enum_type,enum_order',
  )
  expect(status).toBe(200)
  const found: Record<string, string> = {}
  for (const { enum_type, enum_value } of body) {
    found[enum_type] = found[enum_type] === undefined ? enum_value : `${found[enum_type]} ${enum_value}`
  }
  expect(found).toEqual(enums)
})

test('can be filtered as a table is', async () => {
  const { body } = await lading.a.rest.get('/enum_values?enum_type=eq.webhook_status&order=enum_order')
  expect(body).toEqual([
    { enum_type: 'webhook_status', enum_value: 'ready', enum_order: 1 },
    { enum_type: 'webhook_status', enum_value: 'sent', enum_order: 2 },
  ])
})
