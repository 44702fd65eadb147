import type { Lading } from '../harness/lading.ts'
import { type AddedDelivery, addAttempt, addConfiguration, addDelivery, type Configuration } from './webhooks.ts'

export const hostile = `<img src=x onerror="document.title='broken in'"><script>document.title='broken in'</script>"'&`

export interface Scene {
  good: Configuration
  failing: Configuration
  disabled: Configuration
  hostile: Configuration
  /** Delivered at the second attempt. */
  delivered: AddedDelivery
  failed: AddedDelivery
  large: AddedDelivery
  hostileDelivery: AddedDelivery
}

/** A business in the middle of its day: consumers that work, fail and were disabled, and one with a hostile name. */
export async function setScene({ sql, a }: Lading): Promise<Scene> {
  await sql`update api.businesses set timezone_id = 'Europe/Berlin' where id = ${a.id}`
  const good = await addConfiguration(sql, a.id, {
    name: 'Storefront',
    url: 'https://shop.example/webhooks/lading',
    actions: ['shipment.created', 'shipment.updated.status', 'shipment_receipt.completed'],
  })
  const failing = await addConfiguration(sql, a.id, {
    name: 'Accounting',
    url: 'https://accounts.example/in',
    actions: ['shipment_receipt.completed'],
  })
  const disabled = await addConfiguration(sql, a.id, {
    url: 'https://a-long-name-of-a-consumer.of-some-department.example/api/v2/inbound/webhooks/lading/production',
    actions: ['shipment.updated'],
  })
  await sql`
    update api.webhook_configurations set is_enabled = false, disabled_reason = 'The consumer answered 410 Gone'
    where id = ${disabled.id}`
  await sql`
    insert into internal.webhook_failures (business_id, webhook_configuration_id, failing_since)
    values (${a.id}, ${failing.id}, now() - interval '7 hours')`

  await sql`
    insert into api.webhook_deliveries (
      id, business_id, webhook_configuration_id, event_id, action, object_id, sequence, event_time, payload, payload_bytes,
      state, attempt_count, next_attempt_time, response_status, duration_ms, ended_time, creation_time
    )
    select uuidv7(-ago), ${a.id}, ${good.id}, uuidv7(), 'shipment.created', uuidv7(), 1, now() - ago, '{}', 2,
      case when n % 37 = 0 then 'failed' else 'delivered' end::api.webhook_delivery_state, 1, null,
      case when n % 37 = 0 then 500 else 204 end, 40 + (n * 7919) % 300, now() - ago, now() - ago
    from generate_series(1, 400) n
    cross join lateral (select make_interval(mins => 20 + n * n * 29 % 14400) as ago) at`

  const delivered = await addDelivery(sql, good, {
    action: 'shipment.updated.status',
    attempt_count: 2,
    response_status: 200,
    duration_ms: 84,
    minutesAgo: 3,
    data: { shipment_number: 'SHP-1', status: 'shipped', items: [{ sku: 'A-1', quantity: 93 }] },
  })
  await addAttempt(sql, good, delivered, {
    number: 1,
    url: 'https://shop.example/webhooks/lading',
    request_headers: {
      'content-type': 'application/json',
      'webhook-id': delivered.event_id,
      'webhook-signature': 'v1,not-to-be-seen',
    },
    duration_ms: 15_000,
    error: 'No answer within 15 s',
  })
  await addAttempt(sql, good, delivered, {
    number: 2,
    url: 'https://shop.example/webhooks/lading',
    request_headers: {
      'content-type': 'application/json',
      'webhook-id': delivered.event_id,
      'webhook-signature': 'v1,not-to-be-seen',
    },
    response_status: 200,
    response_headers: { 'content-type': 'application/json', 'set-cookie': 'session=not-to-be-seen', server: 'nginx' },
    response_body: '{"received":true,"queue":"fast"}',
    duration_ms: 84,
  })
  const failed = await addDelivery(sql, failing, {
    action: 'shipment_receipt.completed',
    state: 'failed',
    attempt_count: 10,
    response_status: 503,
    duration_ms: 1_250,
    error: 'Answered 503',
    minutesAgo: 50,
  })
  await addDelivery(sql, failing, {
    action: 'shipment_receipt.completed',
    state: 'pending',
    attempt_count: 3,
    response_status: 503,
    duration_ms: 990,
    error: 'Answered 503',
    minutesAgo: 2,
  })
  const large = await addDelivery(sql, good, { isLarge: true, minutesAgo: 5, response_status: 200, duration_ms: 700 })

  const hostileConfiguration = await addConfiguration(sql, a.id, {
    name: hostile,
    url: `https://hostile.example/?${encodeURIComponent('"')}"onmouseover="alert(1)"<script>`,
  })
  const hostileDelivery = await addDelivery(sql, hostileConfiguration, {
    minutesAgo: 1,
    response_status: 200,
    data: { note: hostile },
    error: hostile,
  })
  await addAttempt(sql, hostileConfiguration, hostileDelivery, {
    number: 1,
    url: `https://hostile.example/${hostile}`,
    request_headers: { [hostile]: hostile },
    response_status: 200,
    response_headers: { [hostile]: hostile },
    response_body: hostile,
    error: hostile,
  })
  return { good, failing, disabled, hostile: hostileConfiguration, delivered, failed, large, hostileDelivery }
}
