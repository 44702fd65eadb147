import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Readable } from 'node:stream'
import { type Dispatcher, Pool } from 'undici'
import { BodyTooLarge, limitBody } from './body_limit.ts'
import { answerPreflight, corsHeaders, isPreflight } from './cors.ts'
import { clientHeaders, isUtf8, PREFIX, requestIdOf, upstreamHeaders } from './gateway_headers.ts'
import { refuse, refuseUnread } from './refusal.ts'

export const LARGEST_BODY = 10_000_000

const TOO_LARGE = `The request body is larger than ${LARGEST_BODY / 1_000_000} MB`
const NOT_UTF8 = 'The address or a header of the request is not UTF-8'
const AWAY = 'The service is not available at the moment, try again'

// Below PostgREST's own 30 s, so that a request never goes out on a connection that is being closed.
const IDLE_CONNECTION_MILLISECONDS = 20_000
const MOST_CONNECTIONS = 256

export interface Gateway {
  handles(request: IncomingMessage): boolean
  handle(request: IncomingMessage, response: ServerResponse): void
  /** For `Expect: 100-continue`: refuses what is too large before it is sent. */
  handleExpectation(request: IncomingMessage, response: ServerResponse): void
  close(): Promise<void>
}

const poolFor = (upstream: string): Pool => {
  const options: Pool.Options = {
    connections: MOST_CONNECTIONS,
    pipelining: 1,
    keepAliveTimeout: IDLE_CONNECTION_MILLISECONDS,
    keepAliveMaxTimeout: IDLE_CONNECTION_MILLISECONDS,
    headersTimeout: 0,
    bodyTimeout: 0,
  }
  return upstream.startsWith('unix:')
    ? new Pool('http://localhost', { ...options, socketPath: upstream.slice('unix:'.length) })
    : new Pool(upstream, options)
}

const upstreamPath = (url: string): string => {
  const rest = url.slice(PREFIX.length)
  return rest.startsWith('/') ? rest : `/${rest}`
}

export const declaredLength = (request: IncomingMessage): number => Number(request.headers['content-length'] ?? 0)

const bodyOf = (request: IncomingMessage): Readable | null => {
  if (request.headers['transfer-encoding'] !== undefined) {
    const limited = limitBody(LARGEST_BODY)
    request.on('error', (error) => limited.destroy(error))
    return request.pipe(limited)
  }
  return declaredLength(request) > 0 ? request : null
}

/** Pipes /rest/v1 to PostgREST: streams both ways, passes aborts on in both directions, decides nothing about access. */
export function makeGateway(options: { upstream: string; publicUrl: string }): Gateway {
  const pool = poolFor(options.upstream)
  const protocol = new URL(options.publicUrl).protocol.slice(0, -1)

  const pipe = (request: IncomingMessage, response: ServerResponse, requestId: string): void => {
    let upstream: Dispatcher.DispatchController | undefined
    let clientIsGone = false
    response.once('close', () => {
      if (response.writableFinished) return
      clientIsGone = true
      upstream?.abort(new Error('the client went away'))
    })
    response.on('drain', () => upstream?.resume())

    const fail = (error: Error): void => {
      if (clientIsGone) return
      if (response.headersSent) response.destroy()
      else if (error instanceof BodyTooLarge) refuseUnread(request, response, requestId, 413, TOO_LARGE)
      else refuse(request, response, requestId, 503, AWAY, ['Retry-After', '1'])
    }

    pool.dispatch(
      {
        path: upstreamPath(request.url ?? PREFIX),
        method: (request.method ?? 'GET') as Dispatcher.HttpMethod,
        headers: upstreamHeaders(request, requestId, protocol),
        body: bodyOf(request),
      },
      {
        onRequestStart(controller) {
          upstream = controller
          if (clientIsGone) controller.abort(new Error('the client went away'))
        },
        onResponseStart(controller, status) {
          if (status < 200) return
          const raw = Array.isArray(controller.rawHeaders) ? controller.rawHeaders : []
          response.writeHead(status, [
            ...clientHeaders(raw, options.publicUrl),
            ...corsHeaders(request),
            'X-Request-Id',
            requestId,
          ])
        },
        onResponseData(controller, chunk) {
          if (!response.write(chunk)) controller.pause()
        },
        onResponseEnd() {
          response.end()
        },
        onResponseError(_controller, error) {
          fail(error)
        },
      },
    )
  }

  const handle = (request: IncomingMessage, response: ServerResponse): void => {
    const requestId = requestIdOf(request)
    if (isPreflight(request)) answerPreflight(request, response)
    else if (!isUtf8(request)) refuseUnread(request, response, requestId, 400, NOT_UTF8)
    else if (declaredLength(request) > LARGEST_BODY) refuseUnread(request, response, requestId, 413, TOO_LARGE)
    else pipe(request, response, requestId)
  }

  return {
    handles: (request) => {
      const url = request.url ?? ''
      return url.startsWith(PREFIX) && (url.length === PREFIX.length || '/?'.includes(url.charAt(PREFIX.length)))
    },
    handle,
    handleExpectation(request, response) {
      if (declaredLength(request) <= LARGEST_BODY) response.writeContinue()
      handle(request, response)
    },
    close: () => pool.destroy(),
  }
}
