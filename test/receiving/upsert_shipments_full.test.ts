import { beforeEach, describe, expect, test } from 'vitest'
import {
  add,
  addItem,
  addLocation,
  distinct,
  dryRun,
  type Item,
  ledgerOf,
  quantitiesOf,
  succeeded,
} from '../builders.ts'
import { startLading } from '../harness/lading.ts'

const { a, b, operator } = await startLading()

interface FullLine {
  id: string
  sku: string
  quantity: number
  shipment_package_id: string | null
}

interface FullShipment {
  id: string
  shipment_number: string
  status: string
  location_from: string | null
  location_to: string | null
  order_id: string | null
  billing_address_id: string | null
  packages: { id: string; carton_id: string | null; items: FullLine[] }[]
  items: FullLine[]
}

let shirts: Item
let mugs: Item
let plant: string
let store: string
beforeEach(async () => {
  shirts = await addItem(a)
  mugs = await addItem(a)
  plant = await addLocation(a)
  store = await addLocation(a)
})

const upsert = (shipment: object, patch?: boolean, headers = {}, rest = a.rest) =>
  rest.rpc<FullShipment>(
    'upsert_shipments_full',
    { shipment: { business_id: a.id, ...shipment }, ...(patch === undefined ? {} : { patch }) },
    headers,
  )

const count = async (resource: string) => succeeded(await a.rest.get<object[]>(`/${resource}?select=id`)).length
const countAll = async () => ({
  shipments: await count('shipments'),
  packages: await count('shipment_packages'),
  items: await count('shipment_items'),
  locations: await count('locations'),
  addresses: await count('addresses'),
})

const aShipment = () => ({
  shipment_number: distinct('SHP'),
  carrier: 'Ocean Line',
  tracking_urls: ['https://track.example/1'],
  external_ids: { wms: distinct('W') },
  from_location: { id: plant },
  to_location: { id: store },
  billing_address: { city: 'Kiel', postal_code: '24103' },
  packages: [
    {
      carton_id: 'C-1',
      external_ids: { carton: 1 },
      dimension: { length: 60, width: 40, height: 30, unit: 'cm' },
      items: [
        { sku: shirts.sku, quantity: 5, line_number: 1, external_ids: { line: 1 } },
        { sku: mugs.sku, quantity: 2, line_number: 2, external_ids: { line: 2 } },
      ],
    },
    { carton_id: 'C-2', external_ids: { carton: 2 }, items: [] },
  ],
  items: [{ sku: shirts.sku, quantity: 1, line_number: 3, external_ids: { line: 3 } }],
})

describe('upsert_shipments_full', () => {
  test('creates a shipment with packages, items, address and locations', async () => {
    const stored = succeeded(await upsert(aShipment()))
    expect(stored).toMatchObject({
      status: 'unshipped',
      carrier: 'Ocean Line',
      tracking_urls: ['https://track.example/1'],
      location_from: plant,
      location_to: store,
      packages: [
        {
          carton_id: 'C-1',
          dimension: { length: 60, width: 40, height: 30, unit: 'cm' },
          items: [
            { sku: shirts.sku, quantity: 5 },
            { sku: mugs.sku, quantity: 2 },
          ],
        },
        { carton_id: 'C-2', items: [] },
      ],
      items: [{ sku: shirts.sku, quantity: 1, shipment_package_id: null }],
    })
    expect(stored.packages[0]?.items[0]?.shipment_package_id).toBe(stored.packages[0]?.id)
    expect(await ledgerOf(a, `cause_id=eq.${stored.id}`)).toEqual([])
  })

  test('may be created shipped: status comes last, so its items are booked', async () => {
    succeeded(await upsert({ ...aShipment(), status: 'shipped' }))
    expect(await quantitiesOf(a, shirts, plant)).toMatchObject({ available_to_sell: -6 })
    expect(await quantitiesOf(a, shirts, store)).toMatchObject({ incoming: 6 })
    expect(await quantitiesOf(a, mugs, store)).toMatchObject({ incoming: 2 })
  })

  for (const patch of [true, false]) {
    test(`repeated (patch ${patch}): the same shipment, nothing doubled`, async () => {
      const shipment = { ...aShipment(), status: 'shipped' }
      const first = succeeded(await upsert(shipment, patch))
      const before = await countAll()
      const again = await upsert(shipment, patch)
      expect(again).toMatchObject({ status: 200 })
      expect(await countAll()).toEqual(before)
      expect({ ...again.body, update_time: null }).toEqual({ ...first, update_time: null })
      expect(await quantitiesOf(a, shirts, store)).toMatchObject({ incoming: 6 })
    })

    test(`its answer is accepted as input (patch ${patch}), and changes nothing`, async () => {
      const stored = succeeded(await upsert({ ...aShipment(), status: 'shipped' }))
      const before = await countAll()
      const again = await upsert(stored, patch)
      expect(again).toMatchObject({ status: 200 })
      expect(again.body).toEqual(stored)
      expect(await countAll()).toEqual(before)
    })
  }

  test('matched by id, else by shipment_number', async () => {
    const { shipment_number } = aShipment()
    const { id } = succeeded(await upsert({ shipment_number }))
    expect(succeeded(await upsert({ shipment_number, carrier: 'Rail' })).id).toBe(id)
    const renamed = distinct('SHP')
    expect(succeeded(await upsert({ id, shipment_number: renamed }))).toMatchObject({ id, shipment_number: renamed })
    expect(succeeded(await upsert({ shipment_number })).id).not.toBe(id)
    expect(await upsert({ id, shipment_number })).toMatchObject({ status: 409 })
  })

  test('patch true: what is not named stays; packages and items are matched by id, else by external_ids', async () => {
    const shipment = aShipment()
    const first = succeeded(await upsert(shipment))
    const second = succeeded(
      await upsert({
        shipment_number: shipment.shipment_number,
        service: 'Express',
        packages: [
          { external_ids: { carton: 1 }, pallet_number: 9, items: [{ external_ids: { line: 2 }, quantity: 4 }] },
        ],
        items: [{ id: first.items[0]?.id, lot_number: 'L' }],
      }),
    )
    expect(second).toMatchObject({
      id: first.id,
      carrier: 'Ocean Line',
      service: 'Express',
      location_to: store,
      packages: [
        {
          id: first.packages[0]?.id,
          carton_id: 'C-1',
          pallet_number: 9,
          items: [
            { id: first.packages[0]?.items[0]?.id, quantity: 5 },
            { id: first.packages[0]?.items[1]?.id, sku: mugs.sku, quantity: 4 },
          ],
        },
        { id: first.packages[1]?.id },
      ],
      items: [{ id: first.items[0]?.id, quantity: 1, lot_number: 'L' }],
    })
  })

  test('patch false: the shipment becomes exactly what is given', async () => {
    const shipment = aShipment()
    const first = succeeded(await upsert(shipment))
    const second = succeeded(
      await upsert(
        {
          shipment_number: shipment.shipment_number,
          packages: [{ external_ids: { carton: 2 }, items: [{ sku: mugs.sku, quantity: 7 }] }],
          items: [{ external_ids: { line: 1 }, sku: shirts.sku, quantity: 5 }],
        },
        false,
      ),
    )
    expect(second).toMatchObject({
      id: first.id,
      carrier: null,
      location_from: null,
      location_to: null,
      packages: [{ id: first.packages[1]?.id, carton_id: null, items: [{ sku: mugs.sku, quantity: 7 }] }],
      items: [{ id: first.packages[0]?.items[0]?.id, quantity: 5, shipment_package_id: null, line_number: null }],
    })
    expect(second.packages).toHaveLength(1)
    expect(second.items).toHaveLength(1)
  })

  test('locations by id, by legacy_id, by name; a new name makes one, once', async () => {
    const legacy_id = 9000 + Math.floor(Math.random() * 1000)
    const numbered = await addLocation(a, { legacy_id, name: distinct('Numbered') })
    const shipment_number = distinct('SHP')
    expect(succeeded(await upsert({ shipment_number, to_location: { legacy_id } })).location_to).toBe(numbered)

    const name = distinct('Brand-new dock')
    const made = succeeded(await upsert({ shipment_number, to_location: { name, address: { city: 'Husum' } } }))
    const before = await countAll()
    const again = succeeded(await upsert({ shipment_number, to_location: { name, address: { city: 'Husum' } } }))
    expect(again.location_to).toBe(made.location_to)
    expect(await countAll()).toEqual(before)
    expect(await a.rest.get(`/locations?id=eq.${made.location_to}&select=name,address:addresses(city)`)).toMatchObject({
      body: [{ name, address: { city: 'Husum' } }],
    })

    for (const [to_location, message] of [
      [{ legacy_id: legacy_id + 5000 }, `to_location.legacy_id: no location "${legacy_id + 5000}"`],
      [{}, 'to_location.name: is required'],
    ] as const) {
      expect(await upsert({ shipment_number, to_location })).toMatchObject({ status: 400, body: { message } })
    }
  })

  test('another business may have a location of that name: it is not taken', async () => {
    const name = distinct('Shared name')
    const theirs = await addLocation(b, { name })
    const stored = succeeded(await upsert({ shipment_number: distinct('SHP'), from_location: { name } }))
    expect(stored.location_from).not.toBe(theirs)
    expect(await upsert({ shipment_number: distinct('SHP'), from_location: { id: theirs } })).toMatchObject({
      status: 400,
      body: { message: `from_location.id: no location "${theirs}"` },
    })
  })

  test('order_number is the purchase_order_number or channel_order_id of an order; several: 409', async () => {
    const channels = [
      await add(a, 'channels', { name: distinct('Channel') }),
      await add(a, 'channels', { name: distinct('Channel') }),
    ]
    const [po, ch] = [distinct('PO'), distinct('CH')]
    const order = await add(a, 'orders', {
      channel_id: channels[0]?.id,
      channel_order_id: ch,
      purchase_order_number: po,
    })
    for (const order_number of [po, ch]) {
      expect(succeeded(await upsert({ shipment_number: distinct('SHP'), order_number })).order_id).toBe(order.id)
    }
    await add(a, 'orders', { channel_id: channels[1]?.id, channel_order_id: ch })
    expect(await upsert({ shipment_number: distinct('SHP'), order_number: ch })).toMatchObject({
      status: 409,
      body: { message: `order_number: several orders are "${ch}"` },
    })
    expect(await upsert({ shipment_number: distinct('SHP'), order_number: 'NO-SUCH-ORDER' })).toMatchObject({
      status: 400,
      body: { message: 'order_number: no order "NO-SUCH-ORDER"' },
    })
  })

  test('the billing address is kept, not doubled', async () => {
    const shipment_number = distinct('SHP')
    const first = succeeded(await upsert({ shipment_number, billing_address: { city: 'Kiel', postal_code: '24103' } }))
    const second = succeeded(await upsert({ shipment_number, billing_address: { city: 'Plön' } }))
    expect(second.billing_address_id).toBe(first.billing_address_id)
    expect(await a.rest.get(`/addresses?id=eq.${first.billing_address_id}`)).toMatchObject({
      body: [{ city: 'Plön', postal_code: '24103' }],
    })
  })

  test('an item moves into a package and out again', async () => {
    const shipment_number = distinct('SHP')
    const line = { sku: shirts.sku, quantity: 5, external_ids: { line: 1 } }
    const carton = { external_ids: { carton: 1 } }
    const loose = succeeded(await upsert({ shipment_number, packages: [carton], items: [line] }))
    const packed = succeeded(await upsert({ shipment_number, packages: [{ ...carton, items: [line] }] }))
    expect(packed).toMatchObject({ packages: [{ items: [{ id: loose.items[0]?.id }] }], items: [] })
    const unpacked = succeeded(await upsert({ shipment_number, packages: [carton], items: [line] }, false))
    expect(unpacked).toMatchObject({ packages: [{ items: [] }], items: [{ id: loose.items[0]?.id }] })
  })

  test('all or nothing: a wrong item, and neither shipment nor new location nor package is stored', async () => {
    const before = await countAll()
    const shipment = aShipment()
    expect(
      await upsert({
        ...shipment,
        to_location: { name: distinct('Nowhere') },
        items: [{ sku: 'NO-SUCH-SKU', quantity: 1 }],
      }),
    ).toMatchObject({ status: 400, body: { message: 'items[0].sku: no inventory item "NO-SUCH-SKU"' } })
    expect(await countAll()).toEqual(before)
  })

  test('a dry run answers the shipment in full, and stores and books nothing', async () => {
    const before = await countAll()
    expect(await upsert({ ...aShipment(), status: 'shipped' }, true, dryRun)).toMatchObject({
      status: 200,
      body: { status: 'shipped', packages: [{ items: [{ quantity: 5 }, { quantity: 2 }] }, {}] },
    })
    expect(await countAll()).toEqual(before)
    expect(await quantitiesOf(a, shirts, store)).toMatchObject({ incoming: 0 })
  })

  test('an id that a package or item of another shipment has is refused (409), and it stays there', async () => {
    const theirs = succeeded(await upsert(aShipment()))
    const shipment_number = distinct('SHP')
    expect(await upsert({ shipment_number, packages: [{ id: theirs.packages[0]?.id }] })).toMatchObject({ status: 409 })
    expect(
      await upsert({ shipment_number, items: [{ id: theirs.items[0]?.id, sku: mugs.sku, quantity: 1 }] }),
    ).toMatchObject({ status: 409 })
    expect(succeeded(await upsert({ shipment_number: theirs.shipment_number }))).toMatchObject({
      packages: [{ id: theirs.packages[0]?.id }, {}],
      items: [{ id: theirs.items[0]?.id, sku: shirts.sku }],
    })
  })

  test("an id of another business's shipment is refused, to an operator too, and nothing of it changes", async () => {
    const theirs = await add(b, 'shipments', { shipment_number: distinct('SHP'), carrier: 'Theirs' })
    for (const rest of [a.rest, operator]) {
      const answer = await upsert({ id: theirs.id, shipment_number: distinct('SHP'), carrier: 'Ours' }, true, {}, rest)
      expect([403, 409], JSON.stringify(answer.body)).toContain(answer.status)
    }
    expect(await b.rest.get(`/shipments?id=eq.${theirs.id}`)).toMatchObject({ body: [{ carrier: 'Theirs' }] })
  })

  test('dimension is checked within: a measure that is no number is refused by path', async () => {
    const answer = await upsert({ shipment_number: distinct('SHP'), packages: [{ dimension: { length: 'long' } }] })
    expect(answer).toMatchObject({ status: 400, body: { message: expect.stringMatching(/^packages\[0\]\.dimension/) } })
  })
})
