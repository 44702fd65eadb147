import { describe, expect, test } from 'vitest'
import { startLading } from '../harness/lading.ts'

interface Step {
  id: string
  warehouse_location_map: unknown[]
}

const lading = await startLading()
const representation = { Prefer: 'return=representation' }

const addLocation = async (business: typeof lading.a, name: string, legacy_id: number): Promise<string> => {
  const { body } = await business.rest.post<{ id: string }[]>(
    '/locations',
    { business_id: business.id, name, legacy_id },
    representation,
  )
  return body[0]?.id ?? ''
}
const hall = await addLocation(lading.a, 'Hall', 17)
await addLocation(lading.a, 'Yard', 18)
const foreign = await addLocation(lading.b, 'Foreign', 19)

describe.each(['process_shipments_steps', 'send_orders_steps'])('%s', (resource) => {
  const step = (warehouse_location_map: unknown) => ({
    business_id: lading.a.id,
    ...(resource === 'send_orders_steps' ? { payload_url: 'https://warehouse.example' } : {}),
    warehouse_location_map,
  })
  const create = (map: unknown) => lading.a.rest.post<Step[]>(`/${resource}`, step(map), representation)

  test('a map names locations by id or by legacy_id as text, and is kept as it was sent', async () => {
    const map = [
      {
        ...{ warehouse: 'W1', company: 'Acme', locationId: hall, name: 'Hall', id: '7', zipCode: '28195' },
        ...{ webhookUrl: 'https://w1.example/orders', cancelEndpoint: 'http://w1.example/cancel' },
      },
      { locationId: '18', webhookUrl: null },
    ]
    expect(await create(map)).toMatchObject({ status: 201, body: [{ warehouse_location_map: map }] })
  })

  test.each([
    ['must be an array', '', { locationId: hall }],
    ['must be an array', '', 'all'],
    ['must be an object', '[0]', ['x']],
    ['must be an object', '[1]', [{ locationId: hall }, null]],
    ['is required', '[0].locationId', [{ warehouse: 'W1' }]],
    ['is required', '[0].locationId', [{ locationId: null }]],
    ['no location "nowhere"', '[0].locationId', [{ locationId: 'nowhere' }]],
    ['no location ""', '[0].locationId', [{ locationId: '' }]],
    ['no location "99999999999"', '[0].locationId', [{ locationId: '99999999999' }]],
    ['no location "017"', '[0].locationId', [{ locationId: '017' }]],
    ['must be text', '[0].locationId', [{ locationId: 17 }]],
    ['must be text', '[0].zipCode', [{ locationId: hall, zipCode: 28195 }]],
    ['the same location as warehouse_location_map[0]', '[1].locationId', [{ locationId: hall }, { locationId: '17' }]],
    ['must be an http or https address', '[0].webhookUrl', [{ locationId: hall, webhookUrl: 'file:///etc/passwd' }]],
    ['must be an http or https address', '[0].cancelEndpoint', [{ locationId: hall, cancelEndpoint: 'warehouse' }]],
  ])('%s: 400 naming warehouse_location_map%s', async (reason, place, map) => {
    expect(await create(map)).toMatchObject({
      status: 400,
      body: { code: 'PT400', message: `warehouse_location_map${place}: ${reason}` },
    })
  })

  test('an unknown field is refused by its name: 400', async () => {
    expect(await create([{ locationId: hall, colour: 'blue' }])).toMatchObject({
      status: 400,
      body: { message: 'warehouse_location_map[0]: unknown field "colour"' },
    })
  })

  test('a location of another business is not there, by id or by legacy_id: 400, as an unknown one', async () => {
    for (const locationId of [foreign, '19']) {
      expect(await create([{ locationId }])).toMatchObject({
        status: 400,
        body: { message: `warehouse_location_map[0].locationId: no location "${locationId}"` },
      })
      const byOperator = await lading.operator.post(`/${resource}`, step([{ locationId }]))
      expect(byOperator.status).toBe(400)
    }
  })

  test('a change is checked too, and a refused one leaves the map', async () => {
    const { body } = await create([{ locationId: hall }])
    const path = `/${resource}?id=eq.${body[0]?.id}`
    expect((await lading.a.rest.patch(path, { warehouse_location_map: [{ locationId: foreign }] })).status).toBe(400)
    expect((await lading.a.rest.get(path)).body).toMatchObject([{ warehouse_location_map: [{ locationId: hall }] }])
  })

  test('a location that a map names is not deleted: 409; once it is out of all maps, it is', async () => {
    const gate = await addLocation(lading.a, `Gate of ${resource}`, 100 + resource.length)
    const { body } = await create([{ locationId: gate }])
    const location = `/locations?id=eq.${gate}`
    expect((await lading.a.rest.delete(location)).status).toBe(409)
    await lading.a.rest.patch(`/${resource}?id=eq.${body[0]?.id}`, { warehouse_location_map: [] })
    expect((await lading.a.rest.delete(location)).status).toBe(204)
  })
})
