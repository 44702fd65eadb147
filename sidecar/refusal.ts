import type { IncomingMessage, ServerResponse } from 'node:http'
import { corsHeaders } from './cors.ts'

const DRAINED_BYTES = 64 * 1024 * 1024
const DRAINED_MILLISECONDS = 5_000

const statusLine = (status: number, message: string) =>
  JSON.stringify({ code: `PT${status}`, details: null, hint: null, message })

const headersOf = (request: IncomingMessage, requestId: string, body: string): string[] => [
  ...['Content-Type', 'application/json; charset=utf-8'],
  ...['Content-Length', String(Buffer.byteLength(body))],
  ...['X-Request-Id', requestId],
  ...corsHeaders(request),
]

/** Refuses in the shape of PostgREST's errors. */
export function refuse(
  request: IncomingMessage,
  response: ServerResponse,
  requestId: string,
  status: number,
  message: string,
  extraHeaders: string[] = [],
): void {
  const body = statusLine(status, message)
  response.writeHead(status, [...headersOf(request, requestId, body), ...extraHeaders])
  response.end(request.method === 'HEAD' ? undefined : body)
}

/**
 * Refuses while the client may still be sending: closing at once would reset the connection before the client has read the
 * answer, so what still comes is read and thrown away for a while.
 */
export function refuseUnread(
  request: IncomingMessage,
  response: ServerResponse,
  requestId: string,
  status: number,
  message: string,
): void {
  const body = statusLine(status, message)
  response.writeHead(status, [...headersOf(request, requestId, body), 'Connection', 'close'])
  response.write(body)
  let drained = 0
  const close = () => {
    clearTimeout(timer)
    response.end()
    request.off('data', count)
  }
  const count = (chunk: Buffer) => {
    drained += chunk.length
    if (drained > DRAINED_BYTES) {
      close()
      request.destroy()
    }
  }
  const timer = setTimeout(() => {
    close()
    request.destroy()
  }, DRAINED_MILLISECONDS)
  request.on('data', count).once('end', close).once('close', close)
  request.resume()
}
