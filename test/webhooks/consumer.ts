import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Webhook } from 'standardwebhooks'
import { until } from '../harness/npm_start.ts'

export interface ReceivedWebhook {
  headers: IncomingHttpHeaders
  text: string
  body: {
    id: string
    type: string
    timestamp: string
    business_id: string
    sequence: number
    data: Record<string, unknown>
  }
}

export type Answer = (webhook: ReceivedWebhook, response: ServerResponse) => void

/** One address of a consumer. */
export interface Inbox {
  url: string
  received: ReceivedWebhook[]
  /** How it answers; 204 unless set. */
  answer: Answer
  untilReceived(count: number, milliseconds?: number): Promise<ReceivedWebhook[]>
}

export interface Consumer {
  url: string
  addInbox(answer?: Answer): Inbox
  close(): Promise<unknown>
}

export const answering =
  (status: number, headers: Record<string, string> = {}, body = ''): Answer =>
  (_webhook, response) =>
    response.writeHead(status, headers).end(body)

const textOf = async (request: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}

/** A consumer's own server on loopback, which keeps what it is sent. */
export async function startConsumer(): Promise<Consumer> {
  const inboxes = new Map<string, Inbox>()
  const server = createServer((request, response) => {
    void textOf(request).then(
      (text) => {
        const inbox = inboxes.get(request.url ?? '')
        if (inbox === undefined) {
          response.writeHead(404).end()
          return
        }
        const webhook = { headers: request.headers, text, body: JSON.parse(text) as ReceivedWebhook['body'] }
        inbox.received.push(webhook)
        inbox.answer(webhook, response)
      },
      () => undefined,
    )
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url,
    addInbox: (answer = answering(204)) => {
      const path = `/in/${inboxes.size + 1}`
      const inbox: Inbox = {
        url: `${url}${path}`,
        received: [],
        answer,
        untilReceived: async (count, milliseconds) => {
          await until(`${count} webhooks arrive`, () => inbox.received.length >= count, milliseconds)
          return inbox.received
        },
      }
      inboxes.set(path, inbox)
      return inbox
    },
    close: () => {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(resolve))
    },
  }
}

/** Throws unless it was signed with the secret. */
export const verified = (webhook: ReceivedWebhook | undefined, secret: string): unknown =>
  new Webhook(secret).verify(webhook?.text ?? '', webhook?.headers as Record<string, string>)
