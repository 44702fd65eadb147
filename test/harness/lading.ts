import { afterAll } from 'vitest'
import { startSidecar } from '../../sidecar/sidecar.ts'
import { authenticatorUrl, connect, type Sql, setDeployment } from '../../stack/database.ts'
import { embedded } from '../../stack/embedded/driver.ts'
import { issueApplicationKey, issueKey } from '../../stack/keys.ts'
import { makeLog } from '../../stack/log.ts'
import { freePort } from '../../stack/ports.ts'
import { privateFolder, removeFolder } from '../../stack/temporary_folder.ts'
import { cloneDatabase } from './database.ts'
import { makeRestClient, type RestClient } from './rest_client.ts'

export interface TestBusiness {
  id: string
  name: string
  /** API key of role business. */
  key: string
  /** API key of role warehouse. */
  warehouseKey: string
  /** Calls with the business key. */
  rest: RestClient
}

export interface Lading {
  baseUrl: string
  restUrl: string
  /** PostgREST without the gateway: `unix:/path/of/socket`. */
  upstream: string
  ownerUrl: string
  authenticatorUrl: string
  /** As the owner of the database. */
  sql: Sql
  applicationKey: string
  operatorKey: string
  /** Calls with the operator key. */
  operator: RestClient
  a: TestBusiness
  b: TestBusiness
  /** Calls with any key; null sends no Authorization header. */
  rest(key: string | null, applicationKey?: string | null): RestClient
  addBusiness(name: string): Promise<TestBusiness>
  stop(): Promise<void>
}

/** Lading for one test file: a database, PostgREST and gateway of its own, ended after the file's last test. */
export async function startLading(): Promise<Lading> {
  const log = makeLog(process.env.TEST_LOG_LEVEL ?? 'error', 'test')
  const undo: (() => Promise<unknown>)[] = []
  const stop = async () => {
    for (const step of undo.splice(0).reverse()) await step()
  }
  try {
    const database = await cloneDatabase()
    undo.push(database.drop)
    const socketFolder = await privateFolder()
    undo.push(() => removeFolder(socketFolder))
    const port = await freePort()
    const publicUrl = `http://127.0.0.1:${port}`
    const login = authenticatorUrl(database.ownerUrl)

    const sql = connect(database.ownerUrl, 20)
    undo.push(() => sql.end({ timeout: 1 }))
    const [postgrest] = await Promise.all([
      embedded.startPostgrest({ authenticatorUrl: login, publicUrl, socketFolder, logLevel: 'error', log }),
      setDeployment(database.ownerUrl, { publicUrl, allowPrivateAddresses: true }),
    ])
    undo.push(() => postgrest.stop())

    const sidecar = await startSidecar({
      host: '127.0.0.1',
      port,
      publicUrl,
      authenticatorUrl: login,
      upstream: postgrest.upstream,
      log,
    })
    undo.push(() => sidecar.close())

    const restUrl = `${publicUrl}/rest/v1`
    const applicationKey = await issueApplicationKey(sql, 'test')
    const rest: Lading['rest'] = (key, application = applicationKey) =>
      makeRestClient(restUrl, {
        ...(application === null ? {} : { apikey: application }),
        ...(key === null ? {} : { Authorization: `Bearer ${key}` }),
      })
    const addBusiness = async (name: string): Promise<TestBusiness> => {
      const [business] = await sql<{ id: string }[]>`insert into api.businesses (name) values (${name}) returning id`
      if (business === undefined) throw new Error('the business was not inserted')
      const key = await issueKey(sql, 'business', `${name} business`, business.id)
      const warehouseKey = await issueKey(sql, 'warehouse', `${name} warehouse`, business.id)
      return { id: business.id, name, key, warehouseKey, rest: rest(key) }
    }
    const operatorKey = await issueKey(sql, 'operator', 'test operator')

    afterAll(stop)
    return {
      baseUrl: publicUrl,
      restUrl,
      upstream: postgrest.upstream,
      ownerUrl: database.ownerUrl,
      authenticatorUrl: login,
      sql,
      applicationKey,
      operatorKey,
      operator: rest(operatorKey),
      a: await addBusiness('Business A'),
      b: await addBusiness('Business B'),
      rest,
      addBusiness,
      stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}
