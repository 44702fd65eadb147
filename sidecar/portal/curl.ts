import { Webhook } from 'standardwebhooks'

interface Request {
  url: string
  eventId: string
  body: string
  secret: string
  now: Date
}

/** Quoted so that no shell reads anything into it. */
const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

/** A command that sends the delivery again by hand, with a signature of now. */
export function curlCommand({ url, eventId, body, secret, now }: Request): string {
  const headers = {
    'content-type': 'application/json',
    'webhook-id': eventId,
    'webhook-timestamp': String(Math.floor(now.getTime() / 1_000)),
    'webhook-signature': new Webhook(secret).sign(eventId, now, body),
  }
  return [
    `curl -i -X POST ${quote(url)}`,
    ...Object.entries(headers).map(([name, value]) => `-H ${quote(`${name}: ${value}`)}`),
    `--data-raw ${quote(body)}`,
  ].join(' \\\n  ')
}
