import type { HttpBindings } from '@hono/node-server'
import { Hono } from 'hono'
import type { Sql } from '../stack/database.ts'
import type { Log } from '../stack/log.ts'
import { hasSchemaCache } from '../stack/postgrest_ready.ts'
import { CALLBACK_PATH, callback } from './callback.ts'
import { makeOpenapi } from './openapi.ts'
import { makePortal } from './portal/portal.ts'

const DATABASE_MILLISECONDS = 2_000

const within = <Value>(milliseconds: number, work: PromiseLike<Value>, otherwise: Value): Promise<Value> =>
  new Promise((resolve) => {
    const timer = setTimeout(() => resolve(otherwise), milliseconds)
    work.then(
      (value) => {
        clearTimeout(timer)
        resolve(value)
      },
      () => {
        clearTimeout(timer)
        resolve(otherwise)
      },
    )
  })

/** Everything that is not piped to PostgREST. */
export function makeApp(parts: {
  sql: Sql
  upstream: string
  publicUrl: string
  log: Log
}): Hono<{ Bindings: HttpBindings }> {
  const app = new Hono<{ Bindings: HttpBindings }>()

  app.get('/', (context) =>
    context.json({
      name: 'Lading',
      rest: `${parts.publicUrl}/rest/v1/`,
      openapi: '/v1/openapi.json',
      live: '/live',
      ready: '/ready',
    }),
  )

  app.get('/live', (context) => context.json({ status: 'live' }))

  app.get('/ready', async (context) => {
    const database = parts.sql`select 1`.then(() => true)
    const [databaseAnswers, schemaCacheIsLoaded] = await Promise.all([
      within(DATABASE_MILLISECONDS, database, false),
      hasSchemaCache(parts.upstream),
    ])
    const isReady = databaseAnswers && schemaCacheIsLoaded
    return context.json(
      { status: isReady ? 'ready' : 'not ready', database: databaseAnswers, postgrest: schemaCacheIsLoaded },
      isReady ? 200 : 503,
    )
  })

  app.post(CALLBACK_PATH, callback(parts))
  app.all(CALLBACK_PATH, (context) => context.text('Use POST', 405, { Allow: 'POST' }))

  const openapi = makeOpenapi(parts.publicUrl)
  app.get('/v1/openapi.json', (context) => context.json(openapi))
  app.route('/portal', makePortal(parts))

  app.notFound((context) => context.text('Not found', 404))

  return app
}
