import { beforeEach, describe, expect, test } from 'vitest'
import {
  add,
  addItem,
  addLocation,
  addReceipt,
  addShipment,
  adjust,
  completeReceipt,
  distinct,
  type Item,
  ledgerOf,
  noQuantities,
  patchShipment,
  quantitiesOf,
  stock,
  succeeded,
  verify,
} from '../builders.ts'
import { startLading } from '../harness/lading.ts'

const { a } = await startLading()

let plant: string
let store: string
let shirts: Item
let mugs: Item
beforeEach(async () => {
  plant = await addLocation(a)
  store = await addLocation(a)
  shirts = await addItem(a)
  mugs = await addItem(a)
})

describe('shipping moves inventory', () => {
  test('shipped: available_to_sell −q at location_from, incoming +q at location_to', async () => {
    await stock(a, shirts, plant, 100)
    const shipment = await addShipment(a, { from: plant, to: store, lines: [{ item: shirts, quantity: 30 }] })
    expect(await quantitiesOf(a, shirts, plant)).toMatchObject({ available_to_sell: 100, on_hand: 100 })

    succeeded(await patchShipment(a, shipment, { status: 'shipped' }))
    expect(await quantitiesOf(a, shirts, plant)).toMatchObject({ available_to_sell: 70, on_hand: 70 })
    expect(await quantitiesOf(a, shirts, store)).toEqual({ ...noQuantities, incoming: 30 })
    expect(await ledgerOf(a, `cause_id=eq.${shipment.id}`)).toMatchObject([
      { cause_type: 'shipment', operation: 'ADJUST' },
      { cause_type: 'shipment', operation: 'ADJUST' },
    ])
  })

  test('lines of one item are booked together, and PATCHing shipped again books nothing', async () => {
    const shipment = await addShipment(a, {
      to: store,
      status: 'shipped',
      lines: [
        { item: shirts, quantity: 3 },
        { item: mugs, quantity: 2 },
        { item: shirts, quantity: 4 },
      ],
    })
    succeeded(await patchShipment(a, shipment, { status: 'shipped', carrier: 'Ocean Line' }))
    expect(await quantitiesOf(a, shirts, store)).toMatchObject({ incoming: 7 })
    expect(await quantitiesOf(a, mugs, store)).toMatchObject({ incoming: 2 })
    expect(await ledgerOf(a, `cause_id=eq.${shipment.id}`)).toHaveLength(2)
  })

  test('only location_from: units leave; only location_to: units are incoming; none: nothing', async () => {
    const lines = [{ item: shirts, quantity: 5 }]
    await addShipment(a, { from: plant, status: 'shipped', lines })
    expect(await quantitiesOf(a, shirts, plant)).toMatchObject({ available_to_sell: -5, incoming: 0 })
    await addShipment(a, { to: store, status: 'shipped', lines })
    expect(await quantitiesOf(a, shirts, store)).toMatchObject({ available_to_sell: 0, incoming: 5 })
    const nowhere = await addShipment(a, { status: 'shipped', lines })
    expect(await ledgerOf(a, `cause_id=eq.${nowhere.id}`)).toEqual([])
  })

  test('a shipment within one location books both sides there', async () => {
    await stock(a, shirts, store, 10)
    await addShipment(a, { from: store, to: store, status: 'shipped', lines: [{ item: shirts, quantity: 4 }] })
    expect(await quantitiesOf(a, shirts, store)).toMatchObject({ available_to_sell: 6, incoming: 4 })
  })

  test('a location that is set after shipping is booked then', async () => {
    const shipment = await addShipment(a, { status: 'shipped', lines: [{ item: shirts, quantity: 5 }] })
    succeeded(await patchShipment(a, shipment, { location_to: store }))
    expect(await quantitiesOf(a, shirts, store)).toMatchObject({ incoming: 5 })
    succeeded(await patchShipment(a, shipment, { location_from: plant }))
    expect(await quantitiesOf(a, shirts, plant)).toMatchObject({ available_to_sell: -5 })
    expect(await quantitiesOf(a, shirts, store)).toMatchObject({ incoming: 5 })
  })

  test('one PATCH ships several shipments, each booked', async () => {
    const first = await addShipment(a, { to: store, lines: [{ item: shirts, quantity: 2 }] })
    const second = await addShipment(a, { from: plant, to: store, lines: [{ item: shirts, quantity: 3 }] })
    succeeded(await a.rest.patch(`/shipments?id=in.(${first.id},${second.id})`, { status: 'shipped' }))
    expect(await quantitiesOf(a, shirts, store)).toMatchObject({ incoming: 5 })
    expect(await ledgerOf(a, `cause_id=eq.${first.id}`)).toHaveLength(1)
    expect(await ledgerOf(a, `cause_id=eq.${second.id}`)).toHaveLength(2)
  })

  test('shipped → closed: what was not received is taken as received', async () => {
    const shipment = await addShipment(a, {
      to: store,
      status: 'shipped',
      lines: [
        { item: shirts, quantity: 10 },
        { item: mugs, quantity: 6 },
      ],
    })
    succeeded(
      await completeReceipt(
        a,
        await addReceipt(a, shipment, [
          { item: shirts, quantity: 4 },
          { item: mugs, quantity: 8 },
        ]),
      ),
    )
    succeeded(await patchShipment(a, shipment, { status: 'closed' }))
    expect(await quantitiesOf(a, shirts, store)).toMatchObject({ incoming: 0, available_to_sell: 10 })
    expect(await quantitiesOf(a, mugs, store)).toMatchObject({ incoming: 0, available_to_sell: 8 })
  })

  test('closing takes as received what no receipt received, also after incoming was corrected by hand', async () => {
    const shipment = await addShipment(a, { to: store, status: 'shipped', lines: [{ item: shirts, quantity: 10 }] })
    succeeded(
      await adjust(a, [
        { sku: shirts.sku, location_id: store, inventory_status: 'incoming', operation: 'SET', quantity: 0 },
      ]),
    )
    succeeded(await completeReceipt(a, await addReceipt(a, shipment, [{ item: shirts, quantity: 10 }])))
    succeeded(await patchShipment(a, shipment, { status: 'closed' }))
    expect(await quantitiesOf(a, shirts, store)).toMatchObject({ incoming: 0, available_to_sell: 10 })
    expect(await verify(a)).toEqual([])
  })

  test('shipped → canceled: what shipping booked is undone', async () => {
    await stock(a, shirts, plant, 100)
    const shipment = await addShipment(a, {
      from: plant,
      to: store,
      status: 'shipped',
      lines: [{ item: shirts, quantity: 30 }],
    })
    succeeded(await patchShipment(a, shipment, { status: 'canceled' }))
    expect(await quantitiesOf(a, shirts, plant)).toMatchObject({ available_to_sell: 100 })
    expect(await quantitiesOf(a, shirts, store)).toEqual(noQuantities)
    expect(await ledgerOf(a, `cause_id=eq.${shipment.id}`)).toHaveLength(4)
  })

  for (const status of ['closed', 'canceled'] as const) {
    test(`unshipped → ${status}, and created ${status}: none`, async () => {
      const lines = [{ item: shirts, quantity: 5 }]
      const moved = await addShipment(a, { from: plant, to: store, status, lines })
      expect(await ledgerOf(a, `cause_id=eq.${moved.id}`)).toEqual([])
      const created = await add(a, 'shipments', {
        shipment_number: distinct('SHP'),
        location_from: plant,
        location_to: store,
        status,
      })
      const inFull = succeeded(
        await a.rest.rpc<{ id: string; status: string }>('upsert_shipments_full', {
          shipment: {
            business_id: a.id,
            shipment_number: distinct('SHP'),
            location_from: plant,
            location_to: store,
            status,
            items: [{ sku: shirts.sku, quantity: 5 }],
          },
        }),
      )
      expect(inFull.status).toBe(status)
      expect(await ledgerOf(a, `cause_id=in.(${created.id},${inFull.id})`)).toEqual([])
    })
  }
})
