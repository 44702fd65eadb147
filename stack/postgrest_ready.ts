import { request } from 'node:http'

export const upstreamOptions = (upstream: string): { socketPath: string } | { host: string; port: number } => {
  if (upstream.startsWith('unix:')) return { socketPath: upstream.slice('unix:'.length) }
  const { hostname, port } = new URL(upstream)
  return { host: hostname, port: Number(port) }
}

/**
 * Whether PostgREST can serve: without its database or its schema cache it answers 503, and with both it refuses a request
 * without keys (401).
 */
export const hasSchemaCache = (upstream: string): Promise<boolean> =>
  new Promise((resolve) => {
    const probe = request(
      { ...upstreamOptions(upstream), path: '/', method: 'HEAD', timeout: 2_000, agent: false },
      (response) => {
        response.resume()
        resolve(response.statusCode === 401 || response.statusCode === 200)
      },
    )
    probe.once('timeout', () => probe.destroy(new Error('timeout')))
    probe.once('error', () => resolve(false))
    probe.end()
  })
