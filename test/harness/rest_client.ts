export interface Answer<Body> {
  status: number
  body: Body
  headers: Headers
}

type RequestHeaders = Record<string, string>

export interface RestClient {
  get<Body = unknown>(path: string, headers?: RequestHeaders): Promise<Answer<Body>>
  post<Body = unknown>(path: string, body?: unknown, headers?: RequestHeaders): Promise<Answer<Body>>
  patch<Body = unknown>(path: string, body: unknown, headers?: RequestHeaders): Promise<Answer<Body>>
  put<Body = unknown>(path: string, body: unknown, headers?: RequestHeaders): Promise<Answer<Body>>
  delete<Body = unknown>(path: string, headers?: RequestHeaders): Promise<Answer<Body>>
  rpc<Body = unknown>(name: string, parameters?: unknown, headers?: RequestHeaders): Promise<Answer<Body>>
}

const read = async (response: Response): Promise<unknown> => {
  const text = await response.text()
  if (text === '') return null
  return response.headers.get('content-type')?.includes('json') === true ? JSON.parse(text) : text
}

/** Calls `restUrl` + path with the given headers. A string is sent as it is, anything else as JSON. */
export function makeRestClient(restUrl: string, always: RequestHeaders): RestClient {
  const call = async <Body>(
    method: string,
    path: string,
    body: unknown,
    headers: RequestHeaders = {},
  ): Promise<Answer<Body>> => {
    const response = await fetch(`${restUrl}${path.startsWith('/') ? '' : '/'}${path}`, {
      method,
      redirect: 'manual',
      headers: { ...(body === undefined ? {} : { 'Content-Type': 'application/json' }), ...always, ...headers },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    return { status: response.status, body: (await read(response)) as Body, headers: response.headers }
  }
  return {
    get: (path, headers) => call('GET', path, undefined, headers),
    post: (path, body, headers) => call('POST', path, body, headers),
    patch: (path, body, headers) => call('PATCH', path, body, headers),
    put: (path, body, headers) => call('PUT', path, body, headers),
    delete: (path, headers) => call('DELETE', path, undefined, headers),
    rpc: (name, parameters = {}, headers) => call('POST', `/rpc/${name}`, parameters, headers),
  }
}
