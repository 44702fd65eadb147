import { describe, expect, test } from 'vitest'
import {
  add,
  addItem,
  addLocation,
  addReceipt,
  addShipment,
  completeReceipt,
  distinct,
  patchShipment,
  succeeded,
} from '../builders.ts'
import { startLading } from '../harness/lading.ts'

const lading = await startLading()
const { a } = lading
const item = await addItem(a)
const warehouse = await addLocation(a)
const store = await addLocation(a)

const states = ['unshipped', 'shipped', 'closed', 'canceled'] as const
const allowed = new Set([
  'unshipped → shipped',
  'unshipped → closed',
  'unshipped → canceled',
  'shipped → closed',
  'shipped → canceled',
])

describe('shipment states move forward', () => {
  for (const from of states) {
    for (const to of states.filter((state) => state !== from)) {
      const move = `${from} → ${to}`
      test(`${move}: ${allowed.has(move) ? 'moves' : '409'}`, async () => {
        const shipment = await addShipment(a, { to: warehouse, status: from, lines: [{ item, quantity: 1 }] })
        const answer = await patchShipment(a, shipment, { status: to })
        if (allowed.has(move)) {
          expect(answer).toMatchObject({ status: 200, body: [{ status: to }] })
        } else {
          expect(answer).toMatchObject({
            status: 409,
            body: { message: `Shipment ${shipment.shipment_number} is ${from}: it cannot become ${to}` },
          })
        }
      })
    }
    test(`${from} stays ${from} without complaint`, async () => {
      const shipment = await addShipment(a, { status: from })
      expect(await patchShipment(a, shipment, { status: from, carrier: 'Ocean Line' })).toMatchObject({
        status: 200,
        body: [{ status: from, carrier: 'Ocean Line' }],
      })
    })
  }

  test('upsert_shipments_full moves states by the same rule', async () => {
    const shipment = await addShipment(a, { status: 'closed' })
    expect(
      await a.rest.rpc('upsert_shipments_full', {
        shipment: { business_id: a.id, shipment_number: shipment.shipment_number, status: 'shipped' },
      }),
    ).toMatchObject({ status: 409 })
  })

  test('closed is refused while a receipt is open', async () => {
    for (const status of ['unshipped', 'shipped'] as const) {
      const shipment = await addShipment(a, { to: warehouse, status, lines: [{ item, quantity: 3 }] })
      const receipt = await addReceipt(a, shipment, [{ item, quantity: 3 }])
      expect(await patchShipment(a, shipment, { status: 'closed' })).toMatchObject({
        status: 409,
        body: { message: `Shipment ${shipment.shipment_number} has an open receipt: it cannot be closed` },
      })
      succeeded(await completeReceipt(a, receipt))
      expect(await patchShipment(a, shipment, { status: 'closed' })).toMatchObject({ status: 200 })
    }
  })

  test('canceled is refused once a receipt is complete, not while one is open', async () => {
    const shipment = await addShipment(a, { to: warehouse, status: 'shipped', lines: [{ item, quantity: 3 }] })
    succeeded(await completeReceipt(a, await addReceipt(a, shipment, [{ item, quantity: 1 }])))
    expect(await patchShipment(a, shipment, { status: 'canceled' })).toMatchObject({
      status: 409,
      body: { message: `Shipment ${shipment.shipment_number} has a completed receipt: it cannot be canceled` },
    })

    const other = await addShipment(a, { to: warehouse, status: 'shipped', lines: [{ item, quantity: 3 }] })
    await addReceipt(a, other, [{ item, quantity: 1 }])
    expect(await patchShipment(a, other, { status: 'canceled' })).toMatchObject({ status: 200 })
  })

  test('locations change while unshipped, and not after', async () => {
    const shipment = await addShipment(a, { from: warehouse, to: store })
    expect(await patchShipment(a, shipment, { location_from: store, location_to: warehouse })).toMatchObject({
      status: 200,
    })
    succeeded(await patchShipment(a, shipment, { status: 'shipped' }))
    for (const change of [
      { location_from: warehouse },
      { location_to: store },
      { location_from: null },
      { location_to: null },
      { location_to: store, status: 'closed' },
    ]) {
      expect(await patchShipment(a, shipment, change)).toMatchObject({
        status: 409,
        body: { message: `Shipment ${shipment.shipment_number} is shipped: its locations cannot change` },
      })
    }
  })

  test('shipped_time and canceled_time are set with their state, unless given', async () => {
    const given = '2026-01-05T08:00:00+00:00'
    const shipment = await addShipment(a, {})
    expect(await patchShipment(a, shipment, { status: 'shipped' })).toMatchObject({
      body: [{ shipped_time: expect.any(String), canceled_time: null }],
    })
    expect(await patchShipment(a, shipment, { status: 'canceled', canceled_time: given })).toMatchObject({
      body: [{ canceled_time: given }],
    })
    expect(await patchShipment(a, await addShipment(a, {}), { status: 'shipped', shipped_time: given })).toMatchObject({
      body: [{ shipped_time: given }],
    })
  })

  test('one PATCH of several shipments moves all or none', async () => {
    const first = await addShipment(a, {})
    const second = await addShipment(a, { status: 'canceled' })
    expect(await a.rest.patch(`/shipments?id=in.(${first.id},${second.id})`, { status: 'shipped' })).toMatchObject({
      status: 409,
    })
    expect(await a.rest.get(`/shipments?id=eq.${first.id}&select=status`)).toMatchObject({
      body: [{ status: 'unshipped' }],
    })
  })

  test('an operator and the owner of the database meet the same rule', async () => {
    const shipment = await addShipment(a, { status: 'closed' })
    expect(await patchShipment({ id: a.id, rest: lading.operator }, shipment, { status: 'shipped' })).toMatchObject({
      status: 409,
    })
    await expect(
      lading.sql`update api.shipments set status = 'unshipped' where id = ${shipment.id}`,
    ).rejects.toMatchObject({ code: 'PT409' })
  })

  test('an unknown state is refused', async () => {
    expect(await patchShipment(a, await addShipment(a, {}), { status: 'lost' })).toMatchObject({ status: 400 })
  })

  test('a shipment may be created closed or canceled', async () => {
    for (const status of ['closed', 'canceled']) {
      expect(await add(a, 'shipments', { shipment_number: distinct('SHP'), status })).toMatchObject({ status })
    }
  })
})
