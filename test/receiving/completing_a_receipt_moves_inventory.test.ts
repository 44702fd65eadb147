import { beforeEach, describe, expect, test } from 'vitest'
import {
  addItem,
  addLocation,
  addReceipt,
  addShipment,
  completedReceiptRefusal,
  completeReceipt,
  type Item,
  ledgerOf,
  noQuantities,
  patchShipment,
  quantitiesOf,
  receiptTime,
  stock,
  succeeded,
  upsertReceipts,
  verify,
} from '../builders.ts'
import { startLading } from '../harness/lading.ts'

const lading = await startLading()
const { a } = lading

let warehouse: string
let shirts: Item
let mugs: Item
beforeEach(async () => {
  warehouse = await addLocation(a)
  shirts = await addItem(a)
  mugs = await addItem(a)
})

describe('completing a receipt moves inventory', () => {
  test('an open receipt of 81 and 12 books nothing; completed, available_to_sell grows by 93 in all', async () => {
    const shipment = await addShipment(a, { to: warehouse })
    const items = [
      { sku: shirts.sku, quantity: 81, external_ids: { line: 1 } },
      { sku: mugs.sku, quantity: 12, external_ids: { line: 2 } },
    ]
    const open = succeeded(await upsertReceipts(a, shipment, [{ external_ids: { confirmation_id: 'C-1' }, items }]))
    expect(open.receipts[0]?.completed_time).toBeNull()
    expect(await ledgerOf(a, `location_id=eq.${warehouse}`)).toEqual([])

    const done = succeeded(
      await upsertReceipts(a, shipment, [
        { external_ids: { confirmation_id: 'C-1' }, completed_time: receiptTime, items },
      ]),
    )
    expect(done.receipts[0]).toMatchObject({ id: open.receipts[0]?.id, completed_time: receiptTime })
    expect(await quantitiesOf(a, shirts, warehouse)).toMatchObject({ available_to_sell: 81, on_hand: 81 })
    expect(await quantitiesOf(a, mugs, warehouse)).toMatchObject({ available_to_sell: 12, on_hand: 12 })
    expect(await ledgerOf(a, `location_id=eq.${warehouse}`)).toMatchObject([
      { quantity: 81, quantity_after: 81, cause_type: 'shipment_receipt', cause_id: done.receipts[0]?.id },
      { quantity: 12, quantity_after: 12, cause_type: 'shipment_receipt', cause_id: done.receipts[0]?.id },
    ])
  })

  test('50 available and 4 not: available_to_sell +50, unavailable +4, on_hand +54', async () => {
    await stock(a, shirts, warehouse, 7)
    const shipment = await addShipment(a, { to: warehouse })
    succeeded(
      await upsertReceipts(a, shipment, [
        {
          completed_time: receiptTime,
          items: [
            { sku: shirts.sku, quantity: 50 },
            { sku: shirts.sku, quantity: 4, available: false, comment: 'crushed' },
          ],
        },
      ]),
    )
    expect(await quantitiesOf(a, shirts, warehouse)).toEqual({
      ...noQuantities,
      available_to_sell: 57,
      unavailable: 4,
      on_hand: 61,
      available_to_promise: 57,
    })
  })

  test('a PATCH of the table makes the same adjustments, once', async () => {
    const shipment = await addShipment(a, { to: warehouse })
    const receipt = await addReceipt(a, shipment, [
      { item: shirts, quantity: 50 },
      { item: shirts, quantity: 4, available: false },
    ])
    expect(await completeReceipt(a, receipt)).toMatchObject({ status: 204 })
    expect(await completeReceipt(a, receipt)).toMatchObject({ status: 400, body: completedReceiptRefusal })
    expect(await ledgerOf(a, `cause_id=eq.${receipt.id}`)).toMatchObject([
      { inventory_status: 'available_to_sell', quantity: 50 },
      { inventory_status: 'unavailable', quantity: 4 },
    ])
  })

  test('one PATCH that completes several receipts books each', async () => {
    const shipment = await addShipment(a, { to: warehouse, status: 'shipped', lines: [{ item: shirts, quantity: 10 }] })
    const first = await addReceipt(a, shipment, [{ item: shirts, quantity: 6 }])
    const second = await addReceipt(a, shipment, [{ item: shirts, quantity: 7 }])
    succeeded(await a.rest.patch(`/shipment_receipts?shipment_id=eq.${shipment.id}`, { completed_time: receiptTime }))
    expect(await quantitiesOf(a, shirts, warehouse)).toMatchObject({ available_to_sell: 13, incoming: 0 })
    for (const receipt of [first, second]) {
      expect(await ledgerOf(a, `cause_id=eq.${receipt.id}&inventory_status=eq.available_to_sell`)).toHaveLength(1)
    }
  })

  test('what is received is no longer incoming, and only what its shipment has incoming is taken off', async () => {
    const lines = [{ item: shirts, quantity: 10 }]
    const other = await addShipment(a, { to: warehouse, status: 'shipped', lines })
    const shipment = await addShipment(a, { to: warehouse, status: 'shipped', lines })
    expect(await quantitiesOf(a, shirts, warehouse)).toMatchObject({ incoming: 20, available_to_sell: 0 })

    succeeded(await completeReceipt(a, await addReceipt(a, shipment, [{ item: shirts, quantity: 4 }])))
    expect(await quantitiesOf(a, shirts, warehouse)).toMatchObject({ incoming: 16, available_to_sell: 4 })

    succeeded(await completeReceipt(a, await addReceipt(a, shipment, [{ item: shirts, quantity: 9 }])))
    expect(await quantitiesOf(a, shirts, warehouse)).toMatchObject({ incoming: 10, available_to_sell: 13 })

    succeeded(await completeReceipt(a, await addReceipt(a, other, [{ item: shirts, quantity: 10 }])))
    expect(await quantitiesOf(a, shirts, warehouse)).toMatchObject({ incoming: 0, available_to_sell: 23 })
    expect(await verify(a)).toEqual([])
  })

  test('units that arrive unusable are no longer incoming either', async () => {
    const shipment = await addShipment(a, { to: warehouse, status: 'shipped', lines: [{ item: shirts, quantity: 10 }] })
    succeeded(
      await completeReceipt(
        a,
        await addReceipt(a, shipment, [
          { item: shirts, quantity: 3 },
          { item: shirts, quantity: 2, available: false },
        ]),
      ),
    )
    expect(await quantitiesOf(a, shirts, warehouse)).toMatchObject({
      incoming: 5,
      available_to_sell: 3,
      unavailable: 2,
      on_hand: 5,
    })
  })

  test('an item that was never shipped is received all the same', async () => {
    const shipment = await addShipment(a, { to: warehouse, status: 'shipped', lines: [{ item: shirts, quantity: 10 }] })
    succeeded(await completeReceipt(a, await addReceipt(a, shipment, [{ item: mugs, quantity: 3 }])))
    expect(await quantitiesOf(a, mugs, warehouse)).toMatchObject({ incoming: 0, available_to_sell: 3 })
    expect(await quantitiesOf(a, shirts, warehouse)).toMatchObject({ incoming: 10, available_to_sell: 0 })
  })

  test('a receipt completed before its shipment ships is booked, and leaves that much less to be incoming', async () => {
    const shipment = await addShipment(a, { to: warehouse, lines: [{ item: shirts, quantity: 10 }] })
    succeeded(await completeReceipt(a, await addReceipt(a, shipment, [{ item: shirts, quantity: 4 }])))
    expect(await quantitiesOf(a, shirts, warehouse)).toMatchObject({ incoming: 0, available_to_sell: 4 })

    succeeded(await patchShipment(a, shipment, { status: 'shipped' }))
    expect(await quantitiesOf(a, shirts, warehouse)).toMatchObject({ incoming: 6, available_to_sell: 4 })
  })

  test('a receipt without items completes and books nothing', async () => {
    const shipment = await addShipment(a, { to: warehouse })
    const receipt = await addReceipt(a, shipment)
    expect(await completeReceipt(a, receipt)).toMatchObject({ status: 204 })
    expect(await ledgerOf(a, `cause_id=eq.${receipt.id}`)).toEqual([])
  })

  test('a shipment without destination: P0001, and the receipt stays open', async () => {
    const refusal = { code: 'P0001', details: null, hint: null, message: 'Shipment has no destination location' }
    const shipment = await addShipment(a, { from: warehouse })
    const receipt = await addReceipt(a, shipment, [{ item: shirts, quantity: 1 }])
    expect(await completeReceipt(a, receipt)).toMatchObject({ status: 400, body: refusal })
    expect(
      await upsertReceipts(a, shipment, [{ completed_time: receiptTime, items: [{ sku: shirts.sku, quantity: 2 }] }]),
    ).toMatchObject({ status: 400, body: refusal })
    expect(await a.rest.get(`/shipment_receipts?shipment_id=eq.${shipment.id}&select=id,completed_time`)).toMatchObject(
      {
        body: [{ id: receipt.id, completed_time: null }],
      },
    )
    expect(await ledgerOf(a, `inventory_item_id=eq.${shirts.id}`)).toEqual([])

    succeeded(await patchShipment(a, shipment, { location_to: warehouse }))
    expect(await completeReceipt(a, receipt)).toMatchObject({ status: 204 })
  })

  test('a receipt is not created complete on a shipment without destination', async () => {
    const shipment = await addShipment(a, { from: warehouse })
    expect(
      await a.rest.post('/shipment_receipts', {
        business_id: a.id,
        shipment_id: shipment.id,
        completed_time: receiptTime,
      }),
    ).toMatchObject({ status: 400, body: { code: 'P0001', message: 'Shipment has no destination location' } })
  })

  test('an open receipt of a canceled shipment cannot be completed', async () => {
    const shipment = await addShipment(a, { to: warehouse, status: 'shipped', lines: [{ item: shirts, quantity: 5 }] })
    const receipt = await addReceipt(a, shipment, [{ item: shirts, quantity: 5 }])
    succeeded(await patchShipment(a, shipment, { status: 'canceled' }))
    expect(await completeReceipt(a, receipt)).toMatchObject({ status: 409 })
    expect(await quantitiesOf(a, shirts, warehouse)).toEqual(noQuantities)
  })

  test('an operator completes a receipt of any business, booked for that business', async () => {
    const shipment = await addShipment(a, { to: warehouse })
    const receipt = await addReceipt(a, shipment, [{ item: shirts, quantity: 5 }])
    expect(await completeReceipt({ id: a.id, rest: lading.operator }, receipt)).toMatchObject({ status: 204 })
    expect(await quantitiesOf(a, shirts, warehouse)).toMatchObject({ available_to_sell: 5 })
  })
})
