import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'

export const PREFIX = '/rest/v1'

const hopByHop = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/** Only one schema is served, so the profile headers of Supabase's clients decide nothing. */
const setByGateway = new Set([
  'host',
  'origin',
  'accept-profile',
  'content-profile',
  'expect',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
  'x-request-id',
])

const namedInConnection = (value: string | undefined): string[] =>
  value === undefined ? [] : value.split(',').map((name) => name.trim().toLowerCase())

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** PostgREST answers 500 to an address or header that it cannot decode. */
export const isUtf8 = (request: IncomingMessage): boolean => {
  try {
    decodeURIComponent((request.url ?? '').replace(/%(?![\dA-Fa-f]{2})/g, '%25'))
    for (const text of request.rawHeaders) if (/[^\0-\x7f]/.test(text)) utf8.decode(Buffer.from(text, 'latin1'))
    return true
  } catch {
    return false
  }
}

/** The client's own id if it is a plain one, else a new one. */
export const requestIdOf = (request: IncomingMessage): string => {
  const given = request.headers['x-request-id']
  return typeof given === 'string' && /^[\w.:-]{1,128}$/.test(given) ? given : randomUUID()
}

export function upstreamHeaders(request: IncomingMessage, requestId: string, protocol: string): string[] {
  const dropped = namedInConnection(request.headers.connection)
  const headers: string[] = []
  for (let i = 0; i + 1 < request.rawHeaders.length; i += 2) {
    const name = request.rawHeaders[i] ?? ''
    const lowerCase = name.toLowerCase()
    if (hopByHop.has(lowerCase) || setByGateway.has(lowerCase) || dropped.includes(lowerCase)) continue
    headers.push(name, request.rawHeaders[i + 1] ?? '')
  }
  const before = request.headers['x-forwarded-for']
  const from = request.socket.remoteAddress ?? ''
  headers.push('X-Forwarded-For', before === undefined ? from : `${String(before)}, ${from}`)
  headers.push('X-Forwarded-Host', request.headers.host ?? '')
  headers.push('X-Forwarded-Proto', protocol)
  headers.push('X-Request-Id', requestId)
  return headers
}

/** PostgREST knows neither the prefix nor the public address: its links are made absolute. */
export function clientHeaders(raw: readonly (string | Buffer)[], publicUrl: string): string[] {
  const headers: string[] = []
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const name = String(raw[i])
    const lowerCase = name.toLowerCase()
    if (hopByHop.has(lowerCase) || lowerCase === 'server' || lowerCase.startsWith('access-control-')) continue
    const value = raw[i + 1]
    const text = typeof value === 'string' ? value : (value?.toString('latin1') ?? '')
    const isLink = lowerCase === 'location' || lowerCase === 'content-location'
    headers.push(name, isLink && text.startsWith('/') ? `${publicUrl}${PREFIX}${text}` : text)
  }
  return headers
}
