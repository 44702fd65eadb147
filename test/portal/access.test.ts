import { Writable } from 'node:stream'
import { pino } from 'pino'
import { beforeAll, describe, expect, test } from 'vitest'
import { makePortal } from '../../sidecar/portal/portal.ts'
import { connect } from '../../stack/database.ts'
import { silentLog } from '../../stack/log.ts'
import { startLading } from '../harness/lading.ts'
import { makeLink, openPortal, tokenOf, type Visitor } from './visitor.ts'
import { addConfiguration, addDelivery, type Configuration } from './webhooks.ts'

const lading = await startLading()
const { sql, a, b } = lading

const policy =
  "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"

const expectStatus = (answer: Response, status: number): void => {
  expect(answer.status).toBe(status)
  expect(answer.headers.get('content-security-policy')).toBe(policy)
}

describe('the link', () => {
  test('is exchanged for a cookie that scripts and other sites do not get, and leads to an address without the token', async () => {
    const link = await makeLink(a)
    const opened = await fetch(link, { redirect: 'manual' })
    expect(opened.status).toBe(303)
    expect(opened.headers.get('location')).toBe('/portal')
    expect(opened.headers.get('referrer-policy')).toBe('no-referrer')
    expect(opened.headers.get('cache-control')).toBe('no-store')
    expect(opened.headers.get('set-cookie')).toMatch(
      /^lading_portal_[\da-f]{8}=[\w-]{43}; Max-Age=604800; Path=\/portal; HttpOnly; SameSite=Lax$/,
    )
    expect(opened.headers.get('set-cookie')).not.toContain(tokenOf(link))
    expect(await opened.text()).toBe('')
  })

  test('of an installation with https makes a Secure cookie for its own path', async () => {
    const connection = connect(lading.authenticatorUrl)
    const portal = makePortal({ sql: connection, publicUrl: 'https://lading.example/base', log: silentLog })
    const opened = await portal.request(`/open?token=${tokenOf(await makeLink(a))}`)
    expect(opened.headers.get('location')).toBe('/base/portal')
    expect(opened.headers.get('set-cookie')).toMatch(
      /^__Secure-lading_portal_.*; Path=\/base\/portal; HttpOnly; Secure; SameSite=Lax$/,
    )
    await connection.end()
  })

  test.each([
    '',
    '?token=',
    '?token=short',
    `?token=${'x'.repeat(43)}`,
    '?token=%00%00%00%00%00%00%00%00%00%00%00%00%00%00%00%00%00%00%00%00',
  ])('with a wrong token "%s" opens nothing and says how to get another', async (query) => {
    const answer = await fetch(`${lading.baseUrl}/portal/open${query}`, { redirect: 'manual' })
    expectStatus(answer, 401)
    expect(answer.headers.get('set-cookie')).toBeNull()
    expect(await answer.text()).toContain('create_webhook_portal_magic_link')
  })

  test('that has expired opens nothing, and ends what it opened', async () => {
    const business = await lading.addBusiness('Expired')
    const link = await makeLink(business)
    const visitor = await openPortal(link)
    expect((await visitor.get('')).status).toBe(200)
    await sql`update internal.portal_links set expires_time = now() where business_id = ${business.id}`
    expectStatus(await fetch(link, { redirect: 'manual' }), 401)
    const answer = await visitor.get('')
    expectStatus(answer, 401)
    expect(await answer.text()).toContain('create_webhook_portal_magic_link')
    await makeLink(business)
    expect(await sql`select from internal.portal_links where business_id = ${business.id}`).toHaveLength(1)
  })

  test('that was revoked opens nothing, and ends what it opened, also for posted forms', async () => {
    const business = await lading.addBusiness('Revoked')
    const link = await makeLink(business)
    const visitor = await openPortal(link)
    const form_token = await visitor.formToken()
    const revoked = await business.rest.rpc('revoke_webhook_portal_magic_links', { business_id: business.id })
    expect(revoked.body).toEqual({ count: 1 })
    expectStatus(await fetch(link, { redirect: 'manual' }), 401)
    expectStatus(await visitor.get('/deliveries'), 401)
    expectStatus(await visitor.post('/configurations', { form_token, url: 'https://consumer.example' }), 401)
    expect(await sql`select from api.webhook_configurations where business_id = ${business.id}`).toHaveLength(0)
  })

  test('is not in the log, nor is the session, also when the database fails', async () => {
    const link = await makeLink(a)
    const visitor = await openPortal(link)
    let logged = ''
    const stream = new Writable({
      write(chunk: Buffer, _encoding, done) {
        logged += chunk.toString()
        done()
      },
    })
    const connection = connect(lading.authenticatorUrl)
    await connection.end()
    const portal = makePortal({ sql: connection, publicUrl: lading.baseUrl, log: pino({ level: 'trace' }, stream) })
    expect((await portal.request(`/open?token=${tokenOf(link)}`)).status).toBe(500)
    expect((await portal.request('/', { headers: { cookie: visitor.cookie } })).status).toBe(500)
    expect(logged).toContain('the portal could not answer')
    expect(logged).not.toContain(tokenOf(link))
    expect(logged).not.toContain(visitor.cookie.split('=')[1])
  })
})

describe('a session', () => {
  test.each([undefined, 'lading_portal=x', `lading_portal_00000000=${'x'.repeat(43)}`])(
    'with the cookie %s is none',
    async (cookie) => {
      expectStatus(await fetch(`${lading.baseUrl}/portal`, { headers: cookie === undefined ? {} : { cookie } }), 401)
    },
  )

  test('with a cookie that is not ours is none', async () => {
    const { cookie } = await openPortal(await makeLink(a))
    const name = cookie.split('=')[0]
    for (const value of ['', 'x', 'y'.repeat(43), '%00'.repeat(30)]) {
      expectStatus(await fetch(`${lading.baseUrl}/portal`, { headers: { cookie: `${name}=${value}` } }), 401)
    }
  })

  test('ends with signing out, also for who kept the cookie', async () => {
    const visitor = await openPortal(await makeLink(a))
    const answer = await visitor.post('/sign-out')
    expect(answer.status).toBe(200)
    expect(answer.headers.get('set-cookie')).toMatch(/=; Max-Age=0; Path=\/portal/)
    expect(await answer.text()).toContain('You are signed out')
    expectStatus(await visitor.get(''), 401)
  })
})

describe('every answer', () => {
  test.each([
    '',
    '/deliveries',
    '/replay',
    '/configurations/new',
    '/nothing',
    '/deliveries/nonsense',
    '/assets/nothing',
  ])('%s carries the policies', async (path) => {
    const visitor = await openPortal(await makeLink(a))
    const { headers } = await visitor.get(path)
    expect(headers.get('content-security-policy')).toBe(policy)
    expect(headers.get('referrer-policy')).toBe('same-origin')
    expect(headers.get('cache-control')).toBe('no-store')
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('x-frame-options')).toBe('DENY')
  })

  test('of a file of ours may be kept for ever, since its address changes with it', async () => {
    const page = await (await (await openPortal(await makeLink(a))).get('')).text()
    for (const [, path] of page.matchAll(/(?:src|href)="(\/portal\/assets\/[^"]+)"/g)) {
      const asset = await fetch(`${lading.baseUrl}${path}`)
      expect(asset.status).toBe(200)
      expect(asset.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
    }
    expect(page).not.toMatch(/(?:src|href)="https?:\/\/(?!www\.standardwebhooks\.com)/)
  })
})

describe('a form', () => {
  let visitor: Visitor
  let configuration: Configuration
  const isEnabled = async () =>
    (await sql`select is_enabled from api.webhook_configurations where id = ${configuration.id}`)[0]?.is_enabled

  beforeAll(async () => {
    visitor = await openPortal(await makeLink(a))
    configuration = await addConfiguration(sql, a.id)
  })

  const foreign = { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' }
  test.each<[string, Record<string, string>]>([
    ['another site', foreign],
    ['another site of the same domain', { 'sec-fetch-site': 'same-site' }],
    ['nowhere', { 'sec-fetch-site': 'none' }],
    ['another origin, by a browser that does not say more', { origin: 'https://evil.example' }],
    ['a hidden origin', { origin: 'null' }],
    ['a program that says nothing of where it comes from', {}],
  ])('that comes from %s is refused', async (_name, headers) => {
    expectStatus(await visitor.post(`/configurations/${configuration.id}/disable`, {}, headers), 403)
    expect(await isEnabled()).toBe(true)
  })

  test('without the token of the session is refused', async () => {
    const other = await openPortal(await makeLink(a))
    for (const form_token of ['', 'x', await other.formToken()]) {
      expectStatus(await visitor.post(`/configurations/${configuration.id}/disable`, { form_token }), 403)
    }
    expect(await isEnabled()).toBe(true)
  })

  test('that says its origin over plain http is taken', async () => {
    const answer = await visitor.post(`/configurations/${configuration.id}/disable`, {}, { origin: lading.baseUrl })
    expect(answer.status).toBe(303)
    expect(await isEnabled()).toBe(false)
  })

  test('that is too large is refused', async () => {
    expectStatus(await visitor.post('/configurations', { name: 'x'.repeat(70_000) }), 413)
  })

  test('does not work by a mere address', async () => {
    expectStatus(await visitor.get(`/configurations/${configuration.id}/disable`), 404)
  })
})

describe('what belongs to another business', () => {
  let visitor: Visitor
  let theirs: Configuration
  let delivery: { id: string; object_id: string }

  beforeAll(async () => {
    visitor = await openPortal(await makeLink(a))
    theirs = await addConfiguration(sql, b.id, { name: 'Theirs', actions: ['shipment.created'] })
    delivery = await addDelivery(sql, theirs, { state: 'failed' })
  })

  test('is not found', async () => {
    expectStatus(await visitor.get(`/configurations/${theirs.id}`), 404)
    expectStatus(await visitor.get(`/deliveries/${delivery.id}`), 404)
  })

  test('is not listed', async () => {
    for (const path of [
      '',
      '/deliveries',
      `/deliveries?configuration=${theirs.id}`,
      `/deliveries?object=${delivery.object_id}`,
      '/replay',
    ]) {
      const text = await (await visitor.get(path)).text()
      expect(text).not.toContain('Theirs')
      expect(text).not.toContain(`/deliveries/${delivery.id}`)
    }
  })

  test('is not counted', async () => {
    expectStatus(
      await visitor.get(`/replay?configuration=${theirs.id}&only=all&since=2026-01-01T00:00&step=count`),
      404,
    )
  })

  test('is not changed, sent to or shown', async () => {
    const before = await sql`
      select c.*, (select count(*) from api.webhook_deliveries d where d.webhook_configuration_id = c.id),
        (select array_agg(s.secret) from internal.webhook_secrets s where s.webhook_configuration_id = c.id)
      from api.webhook_configurations c where c.id = ${theirs.id}`
    const at = `/configurations/${theirs.id}`
    const replay = {
      configuration: theirs.id,
      only: 'all',
      since: '2026-01-01T00:00:00Z',
      until: '2036-01-01T00:00:00Z',
    }
    const answers = [
      await visitor.post(at, { url: 'https://mine.example', action: 'shipment.created' }),
      await visitor.post(`${at}/disable`),
      await visitor.post(`${at}/enable`),
      await visitor.post(`${at}/secret`),
      await visitor.post(`${at}/rotate`),
      await visitor.post(`${at}/test`, { test_action: 'shipment.created' }),
      await visitor.post(`/deliveries/${delivery.id}/replay`),
      await visitor.post('/replay', replay),
    ]
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 404))
    for (const answer of answers) expect(await answer.text()).not.toContain('whsec_')
    expect(
      await sql`
      select c.*, (select count(*) from api.webhook_deliveries d where d.webhook_configuration_id = c.id),
        (select array_agg(s.secret) from internal.webhook_secrets s where s.webhook_configuration_id = c.id)
      from api.webhook_configurations c where c.id = ${theirs.id}`,
    ).toEqual(before)
  })
})

test('an address that the database refuses is refused by its field, and nothing is saved', async () => {
  const visitor = await openPortal(await makeLink(a))
  const configuration = await addConfiguration(sql, a.id, { actions: ['shipment.created'] })
  await sql`select internal.set_allow_private_addresses(false)`
  const answer = await visitor.post(`/configurations/${configuration.id}`, {
    url: 'http://169.254.169.254/latest',
    name: 'New',
  })
  expectStatus(answer, 422)
  expect(await answer.text()).toContain('<p class="error" id="url-error">The address must be a public address.</p>')
  expect(await sql`select name from api.webhook_configurations where id = ${configuration.id}`).toEqual([
    { name: null },
  ])
  expect(
    await sql`select from api.webhook_configuration_actions where webhook_configuration_id = ${configuration.id}`,
  ).toHaveLength(1)
})

test('wrong input of every kind is refused without a failure', async () => {
  const visitor = await openPortal(await makeLink(a))
  const configuration = await addConfiguration(sql, a.id)
  const at = `/configurations/${configuration.id}`
  const statuses = async (answers: Promise<Response>[]) => (await Promise.all(answers)).map(({ status }) => status)
  expect(
    await statuses([
      visitor.get('/deliveries?state=lost'),
      visitor.get('/deliveries?action=shipment.eaten'),
      visitor.get('/deliveries?configuration=%00'),
      visitor.get('/deliveries?since=2026-02-31T10:00'),
      visitor.get('/deliveries?since=2026-02-02T10:00&until=2026-02-01T10:00'),
      visitor.get('/replay?step=count&configuration=x'),
      visitor.get(`/replay?step=count&configuration=${configuration.id}&since=tomorrow`),
      visitor.post(at, { url: 'javascript:alert(1)' }),
      visitor.post(at, { url: 'ftp://consumer.example' }),
      visitor.post(at, { url: '//consumer.example' }),
      visitor.post(at, { url: `https://consumer.example/${'x'.repeat(2_000)}` }),
      visitor.post(at, { url: 'https://consumer.example', name: 'a\u0000b' }),
      visitor.post(at, { url: 'https://consumer.example', name: 'x'.repeat(201) }),
    ]),
  ).toEqual(new Array(13).fill(422))
  expect(
    await statuses([
      visitor.get('/deliveries?before=x&after=%00&days=nonsense&notice=<b>'),
      visitor.get('?days=9999'),
      visitor.get('/deliveries?since=9999-12-31T23:59'),
      visitor.get('/deliveries?since=0001-01-01T00:00'),
    ]),
  ).toEqual([200, 200, 200, 200])
  expect(
    await statuses([
      visitor.post('/replay', { configuration: configuration.id }),
      visitor.post(`${at}/test`, { test_action: 'x' }),
    ]),
  ).toEqual([400, 404])
})
