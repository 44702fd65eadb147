import { expect, test } from 'vitest'
import { z } from 'zod'
import { startLading } from '../harness/lading.ts'
import { addCallbackStep, addPendingOrder, makeCallbackClient, shipped } from './warehouse.ts'

const lading = await startLading()

interface Document {
  openapi: string
  servers: { url: string }[]
  security: Record<string, string[]>[]
  paths: Record<
    string,
    Record<
      string,
      {
        requestBody: { content: Record<string, { schema: { anyOf: { $ref: string }[] } }> }
        responses: Record<string, unknown>
      }
    >
  >
  components: { schemas: Record<string, Record<string, unknown>>; securitySchemes: Record<string, unknown> }
}

const answer = await fetch(`${lading.baseUrl}/v1/openapi.json`)
const text = await answer.text()
const document = JSON.parse(text) as Document
const operation = document.paths['/v1/suppliers/{supplier}/callbacks']?.post

test('OpenAPI 3.1 of the callback at its public address, with every status and both keys', () => {
  expect(answer.status).toBe(200)
  expect(answer.headers.get('content-type')).toMatch('application/json')
  expect(document).toMatchObject({ openapi: '3.1.0', servers: [{ url: lading.baseUrl }] })
  expect(Object.keys(operation?.responses ?? {})).toEqual([
    '200',
    '202',
    '204',
    '400',
    '401',
    '404',
    '413',
    '415',
    '500',
    '503',
  ])
  expect(Object.keys(document.components.securitySchemes)).toEqual(['apikey', 'key'])
  expect(document.security).toEqual([{ apikey: [], key: [] }])
})

test('every reference leads to a schema of the document', () => {
  const references = [...text.matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g)].map(([, name]) => name ?? '')
  expect(references.length).toBeGreaterThan(3)
  for (const name of references) expect(document.components.schemas).toHaveProperty(name)
})

test('a line needs id or sku, and a quantity', () => {
  expect(text).toContain(
    '"required":["quantity"],"additionalProperties":{},"anyOf":[{"required":["id"]},{"required":["sku"]}]',
  )
})

test('what the document calls right is accepted, what it calls wrong is refused', async () => {
  const { a } = lading
  const step = await addCallbackStep(a)
  const post = makeCallbackClient(lading, a)
  const schema = z.fromJSONSchema(
    document.components.schemas.OrderUpdateMessage as Parameters<typeof z.fromJSONSchema>[0],
  )
  const order = await addPendingOrder(a, step.locationId)
  const right = shipped(order, 10, { shippedAt: '2026-03-02T10:00:00Z', trackingUrls: ['https://track.example/1'] })
  for (const wrong of [
    {},
    { orderUpdate: {} },
    shipped(order, 0),
    shipped(order, 1.5),
    shipped(order, 1, { status: 'GONE' }),
    shipped(order, 1, { locationId: null }),
    shipped(order, 1, { trackingUrls: 'x' }),
  ]) {
    expect(schema.safeParse(wrong).success, JSON.stringify(wrong)).toBe(false)
    expect(await post(step.callbackUrl, wrong), JSON.stringify(wrong)).toMatchObject({ status: 400 })
  }
  expect(schema.safeParse(right)).toMatchObject({ success: true })
  expect(await post(step.callbackUrl, right)).toMatchObject({ status: 200 })
})
