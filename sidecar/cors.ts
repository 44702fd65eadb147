import type { IncomingMessage, ServerResponse } from 'node:http'

// Keys travel in headers, never in cookies, so any page may call: without a key it gets nothing.

const methods = 'GET, HEAD, POST, PATCH, PUT, DELETE, OPTIONS'

const requestHeaders = [
  'accept',
  'accept-profile',
  'apikey',
  'authorization',
  'content-profile',
  'content-type',
  'idempotency-key',
  'prefer',
  'range',
  'range-unit',
  'x-client-info',
  'x-request-id',
]

const exposedHeaders = [
  'Content-Encoding',
  'Content-Length',
  'Content-Location',
  'Content-Range',
  'Location',
  'Preference-Applied',
  'Range-Unit',
  'X-Request-Id',
].join(', ')

export const corsHeaders = (request: IncomingMessage): string[] =>
  request.headers.origin === undefined
    ? []
    : ['Access-Control-Allow-Origin', '*', 'Access-Control-Expose-Headers', exposedHeaders]

export const isPreflight = (request: IncomingMessage): boolean =>
  request.method === 'OPTIONS' &&
  request.headers.origin !== undefined &&
  request.headers['access-control-request-method'] !== undefined

export function answerPreflight(request: IncomingMessage, response: ServerResponse): void {
  const asked = (request.headers['access-control-request-headers'] ?? '')
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .filter((name) => /^[a-z0-9-]+$/.test(name))
  response.writeHead(204, [
    ...['Access-Control-Allow-Origin', '*'],
    ...['Access-Control-Allow-Methods', methods],
    ...['Access-Control-Allow-Headers', [...new Set([...requestHeaders, ...asked])].join(', ')],
    ...['Access-Control-Max-Age', '86400'],
    ...['Vary', 'Access-Control-Request-Headers'],
  ])
  response.end()
}
