import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, expect, test } from 'vitest'
import { LARGEST_BODY, makeGateway } from '../../sidecar/gateway.ts'
import { privateFolder, removeFolder } from '../../stack/temporary_folder.ts'

const publicUrl = 'https://lading.example'

type Handler = (request: IncomingMessage, response: ServerResponse) => void

let upstreamHandler: Handler = (_request, response) => response.end()

const folder = await privateFolder()
const socket = join(folder, 'upstream')
const upstream = createServer((incoming, response) => upstreamHandler(incoming, response)).listen(socket)
const gateway = makeGateway({ upstream: `unix:${socket}`, publicUrl })
const server: Server = createServer(gateway.handle)
  .on('checkContinue', gateway.handleExpectation)
  .listen(0, '127.0.0.1')
await once(server, 'listening')
const port = (server.address() as AddressInfo).port
const url = (path: string) => `http://127.0.0.1:${port}${path}`

afterAll(async () => {
  await gateway.close()
  for (const each of [server, upstream]) {
    each.closeAllConnections()
    each.close()
  }
  await removeFolder(folder)
})

const send = (options: { method: string; path: string; headers?: Record<string, string> }) =>
  request({ host: '127.0.0.1', port, agent: false, ...options })

const answerOf = async (sent: ReturnType<typeof send>) => {
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  return { status: response.statusCode, headers: response.headers, body: await text(response) }
}

test('the prefix is taken off, the query kept', async () => {
  upstreamHandler = (incoming, response) => response.end(incoming.url)
  expect(await (await fetch(url('/rest/v1/orders?id=eq.1&select=*'))).text()).toBe('/orders?id=eq.1&select=*')
  expect(await (await fetch(url('/rest/v1'))).text()).toBe('/')
  expect(await (await fetch(url('/rest/v1?select=*'))).text()).toBe('/?select=*')
})

test('only /rest/v1 is for PostgREST', () => {
  const handles = (path: string) => gateway.handles({ url: path } as IncomingMessage)
  expect(['/rest/v1', '/rest/v1/', '/rest/v1?a=b', '/rest/v1/orders'].map(handles)).toEqual([true, true, true, true])
  expect(['/', '/rest', '/rest/v10', '/rest/v2/orders', '/live'].map(handles)).toEqual([
    false,
    false,
    false,
    false,
    false,
  ])
})

test('hop-by-hop headers stay on their hop, keys and preferences pass', async () => {
  upstreamHandler = (incoming, response) => {
    response.writeHead(200, { 'Keep-Alive': 'timeout=99', Server: 'secret/1', 'Preference-Applied': 'return=minimal' })
    response.end(JSON.stringify(incoming.headers))
  }
  const answer = await answerOf(
    send({
      method: 'GET',
      path: '/rest/v1/orders',
      headers: {
        Connection: 'close, X-Hop',
        'X-Hop': 'dropped',
        TE: 'trailers',
        'Proxy-Authorization': 'dropped',
        apikey: 'application',
        Authorization: 'Bearer key',
        Prefer: 'return=minimal',
        'X-Forwarded-For': '203.0.113.7',
      },
    }).end(),
  )
  const seen = JSON.parse(answer.body) as Record<string, string>
  expect(seen).toMatchObject({ apikey: 'application', authorization: 'Bearer key', prefer: 'return=minimal' })
  expect(seen['x-forwarded-for']).toBe('203.0.113.7, 127.0.0.1')
  expect(seen['x-forwarded-proto']).toBe('https')
  expect(Object.keys(seen)).not.toEqual(expect.arrayContaining(['x-hop']))
  expect(Object.keys(seen)).not.toEqual(expect.arrayContaining(['te']))
  expect(Object.keys(seen)).not.toEqual(expect.arrayContaining(['proxy-authorization']))
  expect(answer.headers['preference-applied']).toBe('return=minimal')
  expect(answer.headers.server).toBeUndefined()
  expect(answer.headers['keep-alive']).toBeUndefined()
})

test('a request id is passed on and returned; an odd one is replaced', async () => {
  upstreamHandler = (incoming, response) => response.end(incoming.headers['x-request-id'])
  const given = await fetch(url('/rest/v1/'), { headers: { 'X-Request-Id': 'mine-1' } })
  expect([await given.text(), given.headers.get('x-request-id')]).toEqual(['mine-1', 'mine-1'])
  const odd = await fetch(url('/rest/v1/'), { headers: { 'X-Request-Id': 'a b"c' } })
  expect(await odd.text()).toMatch(/^[0-9a-f-]{36}$/)
})

test('Location and Content-Location name the public address and keep the prefix', async () => {
  upstreamHandler = (_incoming, response) => {
    response.writeHead(201, { Location: '/orders?id=eq.1', 'Content-Location': '/orders' }).end()
  }
  const answer = await fetch(url('/rest/v1/orders'), { method: 'POST', body: '{}' })
  expect(answer.headers.get('location')).toBe(`${publicUrl}/rest/v1/orders?id=eq.1`)
  expect(answer.headers.get('content-location')).toBe(`${publicUrl}/rest/v1/orders`)
})

test('an answer is streamed: its first part arrives before its last is made', async () => {
  let finish: () => void = () => undefined
  upstreamHandler = (_incoming, response) => {
    response.write('first')
    finish = () => response.end('last')
  }
  const answer = await fetch(url('/rest/v1/orders'))
  const reader = answer.body?.getReader()
  expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe('first')
  finish()
  expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe('last')
})

test('a body is streamed: PostgREST gets its first part before the client has sent its last', async () => {
  const firstPart = new Promise<string>((resolve) => {
    upstreamHandler = (incoming, response) => {
      incoming.once('data', (chunk: Buffer) => resolve(chunk.toString()))
      incoming.on('end', () => response.end('done'))
    }
  })
  const sent = send({ method: 'POST', path: '/rest/v1/orders' })
  sent.write('first')
  expect(await firstPart).toBe('first')
  expect((await answerOf(sent.end('last'))).body).toBe('done')
})

test('a slow reader holds the sender back instead of filling memory', async () => {
  let written = 0
  const most = 200_000_000
  upstreamHandler = (_incoming, response) => {
    const chunk = Buffer.alloc(1_000_000)
    const write = () => {
      while (written < most) {
        written += chunk.length
        if (!response.write(chunk)) return void response.once('drain', write)
      }
      response.end()
    }
    write()
  }
  const sent = send({ method: 'GET', path: '/rest/v1/orders' }).end()
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  response.pause()
  await sleep(500)
  expect(written).toBeLessThan(most / 4)
  sent.destroy()
})

test('a client that goes away ends its request to PostgREST', async () => {
  const aborted = new Promise<void>((resolve) => {
    upstreamHandler = (incoming, response) => {
      response.on('close', () => resolve())
      incoming.resume()
    }
  })
  const abort = new AbortController()
  const answer = fetch(url('/rest/v1/orders'), { signal: abort.signal })
  await sleep(50)
  abort.abort()
  await expect(answer).rejects.toThrow()
  await aborted
})

test('a client that goes away while it sends ends its request to PostgREST', async () => {
  const aborted = new Promise<void>((resolve) => {
    upstreamHandler = (incoming) => {
      incoming.on('error', () => resolve())
      incoming.resume()
    }
  })
  const sent = send({ method: 'POST', path: '/rest/v1/orders', headers: { 'Content-Length': '1000' } })
  sent.on('error', () => undefined)
  sent.write('part')
  await sleep(50)
  sent.destroy()
  await aborted
})

test('an answer that breaks off in PostgREST breaks off for the client too', async () => {
  upstreamHandler = (_incoming, response) => {
    response.writeHead(200, { 'Content-Length': '100' })
    response.write('part')
    setTimeout(() => response.destroy(), 50)
  }
  const answer = await fetch(url('/rest/v1/orders'))
  await expect(answer.text()).rejects.toThrow()
})

const tooLarge = {
  code: 'PT413',
  details: null,
  hint: null,
  message: 'The request body is larger than 10 MB',
}

test('413: a body that is announced as too large is refused before it is read', async () => {
  let reached = false
  upstreamHandler = (_incoming, response) => {
    reached = true
    response.end()
  }
  const sent = send({
    method: 'POST',
    path: '/rest/v1/orders',
    headers: { 'Content-Length': String(LARGEST_BODY + 1) },
  })
  sent.on('error', () => undefined)
  sent.flushHeaders()
  const answer = await answerOf(sent)
  expect([answer.status, JSON.parse(answer.body)]).toEqual([413, tooLarge])
  expect(reached).toBe(false)
  sent.destroy()
})

test('413: also when the client sends all of it before it reads the answer', async () => {
  const answer = await fetch(url('/rest/v1/orders'), { method: 'POST', body: Buffer.alloc(LARGEST_BODY + 1, 32) })
  expect([answer.status, await answer.json()]).toEqual([413, tooLarge])
})

test('413: with Expect: 100-continue the client never sends it', async () => {
  const sent = send({
    method: 'POST',
    path: '/rest/v1/orders',
    headers: { 'Content-Length': String(LARGEST_BODY + 1), Expect: '100-continue' },
  })
  sent.on('error', () => undefined)
  let wasTold = false
  sent.on('continue', () => {
    wasTold = true
  })
  sent.flushHeaders()
  expect((await answerOf(sent)).status).toBe(413)
  expect(wasTold).toBe(false)
  sent.destroy()
})

test('413: a body of unknown length is cut off when it grows too large, so that PostgREST never sees its end', async () => {
  const outcome = new Promise<string>((resolve) => {
    upstreamHandler = (incoming) => {
      incoming.on('error', () => resolve('cut off'))
      incoming.on('end', () => resolve('complete'))
      incoming.resume()
    }
  })
  const sent = send({ method: 'POST', path: '/rest/v1/orders', headers: { 'Transfer-Encoding': 'chunked' } })
  sent.on('error', () => undefined)
  const answering = answerOf(sent)
  const chunk = Buffer.alloc(1_000_000, 32)
  for (let i = 0; i < 11; i++) sent.write(chunk)
  sent.end()
  const answer = await answering
  expect([answer.status, JSON.parse(answer.body)]).toEqual([413, tooLarge])
  expect(await outcome).toBe('cut off')
})

test('a body of exactly the limit passes, announced or not', async () => {
  upstreamHandler = (incoming, response) => {
    let size = 0
    incoming.on('data', (chunk: Buffer) => {
      size += chunk.length
    })
    incoming.on('end', () => response.end(String(size)))
  }
  const announced = await fetch(url('/rest/v1/orders'), { method: 'POST', body: Buffer.alloc(LARGEST_BODY, 32) })
  expect(await announced.text()).toBe(String(LARGEST_BODY))
  const sent = send({ method: 'POST', path: '/rest/v1/orders', headers: { 'Transfer-Encoding': 'chunked' } })
  expect((await answerOf(sent.end(Buffer.alloc(LARGEST_BODY, 32)))).body).toBe(String(LARGEST_BODY))
})

test('the connection serves the next request after a refusal of its predecessor', async () => {
  await fetch(url('/rest/v1/orders'), { method: 'POST', body: Buffer.alloc(LARGEST_BODY + 1, 32) })
  upstreamHandler = (_incoming, response) => response.end('fine')
  expect(await (await fetch(url('/rest/v1/orders'))).text()).toBe('fine')
})

test('preflight: any page may call, with the headers it asks for', async () => {
  const answer = await fetch(url('/rest/v1/orders'), {
    method: 'OPTIONS',
    headers: {
      Origin: 'https://shop.example',
      'Access-Control-Request-Method': 'PATCH',
      'Access-Control-Request-Headers': 'apikey,authorization,x-custom',
    },
  })
  expect(answer.status).toBe(204)
  expect(answer.headers.get('access-control-allow-origin')).toBe('*')
  expect(answer.headers.get('access-control-allow-methods')).toContain('PATCH')
  const allowed = answer.headers.get('access-control-allow-headers')?.split(', ')
  expect(allowed).toEqual(
    expect.arrayContaining([
      'apikey',
      'authorization',
      'prefer',
      'range',
      'content-profile',
      'content-type',
      'x-custom',
    ]),
  )
})

test('an answer to a page names the origin once and shows the headers that clients need', async () => {
  upstreamHandler = (incoming, response) => {
    response.writeHead(200, { 'Access-Control-Allow-Origin': 'https://other.example', 'Content-Range': '0-0/1' })
    response.end(String(incoming.headers.origin))
  }
  const answer = await fetch(url('/rest/v1/orders'), { headers: { Origin: 'https://shop.example' } })
  expect(answer.headers.get('access-control-allow-origin')).toBe('*')
  for (const name of ['Content-Range', 'Location', 'Preference-Applied']) {
    expect(answer.headers.get('access-control-expose-headers')).toContain(name)
  }
  expect(await answer.text()).toBe('undefined')
})

test('503 in the shape of PostgREST errors when PostgREST is away', async () => {
  const away = makeGateway({ upstream: 'unix:/nowhere/socket', publicUrl })
  const alone = createServer(away.handle).listen(0, '127.0.0.1')
  await once(alone, 'listening')
  const answer = await fetch(`http://127.0.0.1:${(alone.address() as AddressInfo).port}/rest/v1/orders`)
  expect([answer.status, await answer.json()]).toEqual([
    503,
    { code: 'PT503', details: null, hint: null, message: 'The service is not available at the moment, try again' },
  ])
  alone.closeAllConnections()
  alone.close()
  await away.close()
})
