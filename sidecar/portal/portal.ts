import { type Context, Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { html } from 'hono/html'
import type { Sql } from '../../stack/database.ts'
import type { Log } from '../../stack/log.ts'
import { assets, isAssetName } from './assets.ts'
import { FORM_TOKEN, formToken, isFormTokenOf, isFromOurselves } from './forgery.ts'
import { inPortal } from './in_portal.ts'
import { noticeOf } from './notices.ts'
import {
  addConfiguration,
  configuration,
  createConfiguration,
  disableConfiguration,
  enableConfiguration,
  revealSecret,
  rotateSecret,
  saveConfiguration,
  testConfiguration,
} from './pages/configuration.ts'
import { deliveries } from './pages/deliveries.ts'
import { delivery, replayDelivery } from './pages/delivery.ts'
import * as messages from './pages/messages.ts'
import { overview } from './pages/overview.ts'
import { confirmReplay, replay } from './pages/replay.ts'
import { layOut, layOutMessage } from './parts/layout.ts'
import { readBusiness } from './queries/business.ts'
import { notFound, refusalOf } from './refusal.ts'
import { securityHeaders } from './security_headers.ts'
import { makeSessionCookie } from './session_cookie.ts'
import type { Handler, Page, Visit } from './visit.ts'

const LARGEST_FORM = 64 * 1024
const TOKEN = /^[\w-]{20,200}$/

/** The pages where a business sees, repairs and replays its webhook deliveries, to be mounted at /portal. */
export function makePortal(parts: { sql: Sql; publicUrl: string; log: Log }): Hono {
  const { sql, publicUrl, log } = parts
  const base = `${new URL(publicUrl).pathname.replace(/\/$/, '')}/portal`
  const cookie = makeSessionCookie(publicUrl, base)
  const portal = new Hono({ strict: false })

  const say = (context: Context, status: 200 | 401 | 403 | 413 | 500, message: { title: string; text: Page['main'] }) =>
    context.html(layOutMessage(base, message.title, message.text), status)

  const sessionOf = (context: Context): string | undefined => {
    const session = cookie.read(context)
    return session !== undefined && TOKEN.test(session) ? session : undefined
  }

  /** Answers a request within one transaction of its session; `form` is null for pages. */
  const answer = async (
    context: Context,
    session: string,
    form: URLSearchParams | null,
    handler: Handler,
  ): Promise<Response> => {
    const visitOf = async (transaction: Visit['sql'], businessId: string): Promise<Visit> => ({
      ...(await readBusiness(transaction, businessId)),
      sql: transaction,
      base,
      publicUrl,
      formToken: formToken(session),
      now: new Date(),
      query: new URL(context.req.url).searchParams,
      form: form ?? new URLSearchParams(),
      parameter: (name) => context.req.param(name) ?? '',
    })
    const work = (handle: Handler) =>
      inPortal(sql, session, form === null ? 'read only' : 'read write', async (transaction, businessId) => {
        const visit = await visitOf(transaction, businessId)
        const result = await handle(visit)
        if ('to' in result) return context.redirect(`${base}${result.to}`, 303)
        const page = { notice: noticeOf(visit.query), ...result }
        return context.html(layOut(visit, page), page.status ?? 200)
      })

    try {
      return (await work(handler)) ?? say(context, 401, messages.sessionIsOver)
    } catch (error) {
      const refusal = refusalOf(error)
      if (refusal === undefined) throw error
      const title = refusal.status === 404 ? 'Not found' : 'That did not work'
      const refused = await work(() =>
        Promise.resolve({
          status: refusal.status,
          title,
          main: html`<h1>${title}</h1><p>${refusal.message}</p><p><a href="${base}">Go to the overview</a></p>`,
        }),
      )
      return refused ?? say(context, 401, messages.sessionIsOver)
    }
  }

  const page = (path: string, handler: Handler) =>
    portal.get(path, (context) => {
      const session = sessionOf(context)
      return session === undefined ? say(context, 401, messages.sessionIsOver) : answer(context, session, null, handler)
    })

  const post = (
    path: string,
    handle: (context: Context, session: string, form: URLSearchParams) => Promise<Response>,
  ) =>
    portal.post(path, async (context) => {
      if (!isFromOurselves(context.req.raw.headers, publicUrl)) return say(context, 403, messages.notSentFromHere)
      const session = sessionOf(context)
      if (session === undefined) return say(context, 401, messages.sessionIsOver)
      const form = new URLSearchParams(await context.req.text())
      if (!isFormTokenOf(session, form.get(FORM_TOKEN))) return say(context, 403, messages.notSentFromHere)
      return handle(context, session, form)
    })

  const action = (path: string, handler: Handler) =>
    post(path, (context, session, form) => answer(context, session, form, handler))

  portal.use(securityHeaders)
  portal.use(bodyLimit({ maxSize: LARGEST_FORM, onError: (context) => say(context, 413, messages.tooLarge) }))

  portal.get('/assets/:name', (context) => {
    const name = context.req.param('name')
    if (!isAssetName(name)) return context.text('Not found', 404)
    const asset = assets[name]
    const isCurrent = context.req.query('v') === asset.version
    return context.body(asset.content, 200, {
      'Content-Type': asset.type,
      'Cache-Control': isCurrent ? 'public, max-age=31536000, immutable' : 'no-cache',
    })
  })

  portal.get('/open', async (context) => {
    context.header('Referrer-Policy', 'no-referrer')
    const token = context.req.query('token') ?? ''
    const [opened] = TOKEN.test(token)
      ? await sql<{ session: string | null }[]>`select internal.open_portal_session(${token}) as session`
      : []
    if (opened === undefined || opened.session === null) return say(context, 401, messages.linkIsNotValid)
    cookie.write(context, opened.session)
    return context.redirect(base, 303)
  })

  post('/sign-out', async (context, session) => {
    await sql`select internal.end_portal_session(${session})`
    cookie.clear(context)
    return say(context, 200, messages.signedOut)
  })

  page('/', overview)
  page('/deliveries', deliveries)
  page('/deliveries/:id', delivery)
  action('/deliveries/:id/replay', replayDelivery)
  page('/replay', replay)
  action('/replay', confirmReplay)
  page('/configurations', () => Promise.resolve({ to: '' }))
  page('/configurations/new', addConfiguration)
  action('/configurations', createConfiguration)
  page('/configurations/:id', configuration)
  action('/configurations/:id', saveConfiguration)
  action('/configurations/:id/enable', enableConfiguration)
  action('/configurations/:id/disable', disableConfiguration)
  action('/configurations/:id/test', testConfiguration)
  page('/configurations/:id/secret', (visit) => Promise.resolve({ to: `/configurations/${visit.parameter('id')}` }))
  action('/configurations/:id/secret', revealSecret)
  action('/configurations/:id/rotate', rotateSecret)
  page('/*', () => Promise.reject(notFound('page')))

  portal.onError((error, context) => {
    log.error({ err: error, path: context.req.path }, 'the portal could not answer')
    return say(context, 500, messages.failed)
  })

  return portal
}
