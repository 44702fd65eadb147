import { type LookupAddress, lookup } from 'node:dns'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { makeOutboundAgent } from '../../worker/outbound/agent.ts'
import { post } from '../../worker/outbound/post.ts'
import { isPublicAddress } from '../../worker/outbound/public_address.ts'
import { startToyWarehouse } from './toy_warehouse.ts'

const internal = await startToyWarehouse()
const port = new URL(internal.url).port

/** What names are made to resolve to, one answer per lookup; without any the system is asked. */
const answers: LookupAddress[][] = []
let lookups = 0
const guarded = makeOutboundAgent({
  allowPrivateAddresses: false,
  resolve: (host, options, done) => {
    lookups += 1
    const answer = answers.shift()
    if (answer === undefined) lookup(host, options, done)
    else setImmediate(() => done(null, answer))
  },
})
const unguarded = makeOutboundAgent({ allowPrivateAddresses: true })
afterAll(async () => {
  await Promise.all([guarded.destroy(), unguarded.destroy()])
  await internal.close()
})
beforeEach(() => {
  internal.received.length = 0
  answers.length = 0
  lookups = 0
})

const to = (agent: typeof guarded, url: string) =>
  post(agent, { url, headers: {}, body: '{}' }, { milliseconds: 3_000, answerBytes: 100 })

const notAllowed = (networkError: unknown) => ({ status: null, networkError, answer: '', headers: null })

describe('forms of an internal address are never dialled', () => {
  test.for([
    'http://127.0.0.1',
    'http://127.1',
    'http://2130706433',
    'http://0x7f000001',
    'http://0x7f.0.0.1',
    'http://0177.0.0.1',
    'http://017700000001',
    'http://127.0.0.1.',
    'http://%31%32%37.0.0.1',
    'http://①②⑦.0.0.1',
    'http://127。0。0。1',
    'http://user:password@127.0.0.1',
    'http://0.0.0.0',
    'http://0',
    'http://10.0.0.1',
    'http://100.64.0.1',
    'http://169.254.169.254',
    'http://172.16.0.1',
    'http://172.31.255.255',
    'http://192.0.0.1',
    'http://192.168.1.1',
    'http://198.18.0.1',
    'http://203.0.113.1',
    'http://224.0.0.1',
    'http://240.0.0.1',
    'http://255.255.255.255',
    'http://[::]',
    'http://[::1]',
    'http://[0:0:0:0:0:0:0:1]',
    'http://[::127.0.0.1]',
    'http://[::ffff:127.0.0.1]',
    'http://[::ffff:7f00:1]',
    'http://[::ffff:169.254.169.254]',
    'http://[::ffff:0:127.0.0.1]',
    'http://[64:ff9b::127.0.0.1]',
    'http://[64:ff9b::a9fe:a9fe]',
    'http://[64:ff9b:1::127.0.0.1]',
    'http://[2002:7f00:1::]',
    'http://[2001:0:7f00:1::]',
    'http://[fe80::1]',
    'http://[fec0::1]',
    'http://[fc00::1]',
    'http://[fd00:ec2::254]',
    'http://[ff02::1]',
    'http://[100::1]',
    'http://[2001:db8::1]',
    'http://[3fff::1]',
    'http://[5f00::1]',
  ])('%s', async (address) => {
    const outcome = await to(guarded, `${address}:${port}/`)
    expect(outcome).toEqual(
      notAllowed(expect.stringMatching(/^the address is not allowed: .* is not a public address$/)),
    )
    expect(internal.received).toEqual([])
  })

  test('names that lead there', async () => {
    for (const name of ['localhost', 'Localhost']) {
      const outcome = await to(guarded, `http://${name}:${port}/`)
      expect(outcome, name).toEqual(notAllowed(expect.stringMatching(/^the address is not allowed: localhost/)))
    }
    expect(await to(guarded, `http://localhost.:${port}/`)).toMatchObject({ status: null })
    expect(internal.received).toEqual([])
  })

  test('over TLS too', async () => {
    expect(await to(guarded, `https://127.0.0.1:${port}/`)).toEqual(notAllowed(expect.stringContaining('not allowed')))
    expect(await to(guarded, `https://localhost:${port}/`)).toEqual(notAllowed(expect.stringContaining('not allowed')))
  })
})

const v4 = (address: string) => ({ address, family: 4 })

describe('names', () => {
  test('one private address among public ones is enough to refuse', async () => {
    answers.push([v4('93.184.216.34'), v4('127.0.0.1')])
    expect(await to(guarded, `http://mixed.example:${port}/`)).toEqual(
      notAllowed('the address is not allowed: mixed.example (127.0.0.1) is not a public address'),
    )
    expect(internal.received).toEqual([])
  })

  test('rebinding: the name is resolved once, and what was checked is what is dialled', async () => {
    answers.push([v4('93.184.216.34')], [v4('127.0.0.1')])
    const outcome = await post(
      guarded,
      { url: `http://rebinding.example:${port}/`, headers: {}, body: '{}' },
      { milliseconds: 500, answerBytes: 100 },
    )
    expect(outcome.status).toBeNull()
    expect(lookups).toBe(1)
    expect(internal.received).toEqual([])
  })

  test('rebinding between requests: each connection is checked anew', async () => {
    answers.push([v4('127.0.0.1')])
    expect(await to(guarded, `http://again.example:${port}/`)).toEqual(
      notAllowed(expect.stringContaining('not allowed')),
    )
    answers.push([{ address: '::ffff:10.0.0.1', family: 6 }])
    expect(await to(guarded, `http://again.example:${port}/`)).toEqual(
      notAllowed(expect.stringContaining('not allowed')),
    )
  })
})

test('a redirect to an internal address is not followed', async () => {
  internal.answer = (request, response) => {
    if (request.url === '/') response.writeHead(307, { Location: `${internal.url}/secret` }).end()
    else response.end('secret')
  }
  expect(await to(unguarded, internal.url)).toMatchObject({ status: 307, networkError: null, answer: '' })
  expect(internal.received.map(({ url }) => url)).toEqual(['/'])
})

test('other protocols are refused', async () => {
  for (const url of ['file:///etc/passwd', 'ftp://example.com/', 'gopher://example.com/']) {
    expect(await to(guarded, url)).toMatchObject({ status: null, networkError: expect.any(String) })
  }
})

test('allowed where the setting says so', async () => {
  internal.answer = (_request, response) => response.end('welcome')
  const welcomed = { status: 200, networkError: null, answer: 'welcome' }
  expect(await to(unguarded, internal.url)).toMatchObject(welcomed)
  expect(await to(unguarded, `http://localhost:${port}`)).toMatchObject(welcomed)
})

test('public addresses are public', () => {
  for (const address of [
    '1.1.1.1',
    '93.184.216.34',
    '172.32.0.1',
    '172.15.255.255',
    '100.63.255.255',
    '100.128.0.1',
    '192.0.1.1',
    '198.17.255.255',
    '223.255.255.255',
    '2606:4700:4700::1111',
    '2a00:1450:4001:80b::200e',
    '64:ff9b::101:101',
    '::ffff:1.1.1.1',
  ]) {
    expect(isPublicAddress(address), address).toBe(true)
  }
  for (const address of ['', 'nonsense', '1.1.1.1.1', 'fe80::1%eth0', '2606:4700::1%eth0']) {
    expect(isPublicAddress(address), address).toBe(false)
  }
})
