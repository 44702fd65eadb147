import { Webhook } from 'standardwebhooks'
import type { OutboundRequest } from '../outbound/post.ts'

/** A delivery that a worker holds under a lease. */
export interface ClaimedDelivery {
  id: string
  token: string
  event_id: string
  object_id: string
  url: string
  /** The consumer, told to a producer that delivers to it; null when the request goes to the consumer itself. */
  consumer_url: string | null
  body: string
  /** All that are valid, the current one first. */
  secrets: string[]
}

const signatures = ({ event_id, body, secrets }: ClaimedDelivery, time: Date): string =>
  secrets.map((secret) => new Webhook(secret).sign(event_id, time, body)).join(' ')

/** A POST as Standard Webhooks has it, with one signature per valid secret. */
export const signedRequest = (delivery: ClaimedDelivery, time: Date): OutboundRequest => ({
  url: delivery.url,
  headers: {
    'content-type': 'application/json',
    'user-agent': 'lading',
    'webhook-id': delivery.event_id,
    'webhook-timestamp': String(Math.floor(time.getTime() / 1_000)),
    'webhook-signature': signatures(delivery, time),
    ...(delivery.consumer_url === null ? {} : { 'webhook-consumer-url': delivery.consumer_url }),
  },
  body: delivery.body,
})

/** The headers as they are kept: what proves who we are is not. */
export const headersToKeep = (headers: Record<string, string>): Record<string, string> =>
  'webhook-signature' in headers ? { ...headers, 'webhook-signature': 'v1,***' } : headers
