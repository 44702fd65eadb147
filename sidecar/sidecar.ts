import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { connect } from '../stack/database.ts'
import type { Log } from '../stack/log.ts'
import { makeApp } from './app.ts'
import { declaredLength, LARGEST_BODY, makeGateway } from './gateway.ts'

const DATABASE_CONNECTIONS = 10
const DRAIN_MILLISECONDS = 2_000

export interface SidecarOptions {
  host: string
  port: number
  publicUrl: string
  authenticatorUrl: string
  upstream: string
  log: Log
}

export interface Sidecar {
  readonly port: number
  close(): Promise<void>
}

const listen = (server: Server, port: number, host: string): Promise<number> =>
  new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => {
      server.off('error', reject)
      resolve((server.address() as AddressInfo).port)
    })
  })

/** Lets running requests end for a moment, then cuts them off. */
const drain = (server: Server): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(() => server.closeAllConnections(), DRAIN_MILLISECONDS)
    server.close(() => {
      clearTimeout(timer)
      resolve()
    })
    server.closeIdleConnections()
  })

export async function startSidecar(options: SidecarOptions): Promise<Sidecar> {
  const sql = connect(options.authenticatorUrl, DATABASE_CONNECTIONS)
  const gateway = makeGateway({ upstream: options.upstream, publicUrl: options.publicUrl })
  const app = makeApp({ sql, upstream: options.upstream, publicUrl: options.publicUrl, log: options.log })
  const answer = getRequestListener(app.fetch)

  const server = createServer({ keepAliveTimeout: 65_000, requestTimeout: 0 }, (request, response) => {
    if (gateway.handles(request)) gateway.handle(request, response)
    else void answer(request, response)
  })
  server.on('checkContinue', (request, response) => {
    if (gateway.handles(request)) gateway.handleExpectation(request, response)
    else {
      if (declaredLength(request) <= LARGEST_BODY) response.writeContinue()
      void answer(request, response)
    }
  })
  const port = await listen(server, options.port, options.host)
  options.log.info({ port }, 'sidecar is listening')

  return {
    port,
    close: async () => {
      await drain(server)
      await Promise.all([gateway.close(), sql.end({ timeout: 1 })])
    },
  }
}
