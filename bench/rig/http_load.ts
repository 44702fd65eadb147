import { Client } from 'undici'
import type { HttpLoad, HttpRequest, LoadResult } from './load.ts'
import { runLanes } from './run_lanes.ts'

const clients = new Map<string, Client>()

const clientFor = (target: string, lane: number): Client => {
  const key = `${lane} ${target}`
  const known = clients.get(key)
  if (known !== undefined) return known
  const options: Client.Options = { pipelining: 1, headersTimeout: 0, bodyTimeout: 0 }
  const client = target.startsWith('unix:')
    ? new Client('http://localhost', { ...options, socketPath: target.slice('unix:'.length) })
    : new Client(target, options)
  clients.set(key, client)
  return client
}

const send = (client: Client, request: HttpRequest): Promise<void> =>
  new Promise((resolve, reject) => {
    let status = 0
    let refusal = ''
    client.dispatch(
      { method: request.method, path: request.path, headers: request.headers, body: request.body ?? null },
      {
        onRequestStart() {},
        onResponseStart(_controller, received) {
          status = received
        },
        onResponseData(_controller, chunk) {
          if (status >= 300) refusal += chunk.toString()
        },
        onResponseEnd() {
          if (status < 300) resolve()
          else reject(new Error(`${request.method} ${request.path.slice(0, 100)}: ${status} ${refusal.slice(0, 300)}`))
        },
        onResponseError(_controller, error) {
          reject(error)
        },
      },
    )
  })

export const sendHttp = (load: HttpLoad): Promise<LoadResult> =>
  runLanes(load.lanes, load.milliseconds, (request, lane) => send(clientFor(load.target, lane), request))
