import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface ReceivedRequest {
  method: string
  url: string
  headers: IncomingHttpHeaders
  body: string
}

export interface ToyWarehouse {
  /** `http://127.0.0.1:port` */
  url: string
  received: ReceivedRequest[]
  /** How it answers; 200 unless set. */
  answer: (request: ReceivedRequest, response: ServerResponse) => void
  close(): Promise<unknown>
}

const bodyOf = async (request: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}

/** A warehouse's own server on loopback, which keeps what it is sent. */
export async function startToyWarehouse(): Promise<ToyWarehouse> {
  const server = createServer((request, response) => {
    void bodyOf(request).then(
      (body) => {
        const received = { method: request.method ?? '', url: request.url ?? '', headers: request.headers, body }
        warehouse.received.push(received)
        warehouse.answer(received, response)
      },
      () => undefined,
    )
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const warehouse: ToyWarehouse = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received: [],
    answer: (_request, response) => response.end('{}'),
    close: () => {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(resolve))
    },
  }
  return warehouse
}
