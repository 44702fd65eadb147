import { describe, expect, test } from 'vitest'
import {
  add,
  addItem,
  addLocation,
  addReceipt,
  addShipment,
  completedReceiptRefusal,
  completeReceipt,
  ledgerOf,
  patchShipment,
  quantitiesOf,
  receiptTime,
  succeeded,
  upsertReceipts,
  verify,
} from '../builders.ts'
import { startLading } from '../harness/lading.ts'

const lading = await startLading()
const { a } = lading
const warehouse = await addLocation(a)

const times = <Result>(count: number, act: (n: number) => Promise<Result>): Promise<Result[]> =>
  Promise.all(Array.from({ length: count }, (_, n) => act(n)))

const statusesOf = (answers: { status: number }[]) => answers.map(({ status }) => status).sort()

describe('receiving in parallel', () => {
  test('20 completions of one receipt, by PATCH and RPC: one set of adjustments, P0001 for the rest', async () => {
    const item = await addItem(a)
    const shipment = await addShipment(a, { to: warehouse, status: 'shipped', lines: [{ item, quantity: 50 }] })
    const receipt = await addReceipt(a, shipment, [
      { item, quantity: 30 },
      { item, quantity: 4, available: false },
    ])
    const answers = await times<{ status: number; body: unknown }>(20, (n) =>
      n % 2 === 0
        ? completeReceipt(a, receipt)
        : upsertReceipts(a, shipment, [{ id: receipt.id, completed_time: receiptTime, items: [] }]),
    )
    const refused = answers.filter(({ status }) => status >= 300)
    expect(refused).toHaveLength(19)
    for (const { status, body } of refused) {
      expect(status).toBe(400)
      expect(body).toEqual(completedReceiptRefusal)
    }
    expect(await ledgerOf(a, `cause_id=eq.${receipt.id}`)).toHaveLength(3)
    expect(await quantitiesOf(a, item, warehouse)).toMatchObject({
      available_to_sell: 30,
      unavailable: 4,
      incoming: 16,
    })
  })

  test('20 identical upserts of a new receipt with external_ids: one receipt, its items once', async () => {
    const item = await addItem(a)
    const shipment = await addShipment(a, { to: warehouse })
    const answers = await times(20, () =>
      upsertReceipts(a, shipment, [
        {
          external_ids: { confirmation_id: 'C-1' },
          items: [
            { sku: item.sku, quantity: 5, external_ids: { line: 1 } },
            { sku: item.sku, quantity: 6, external_ids: { line: 2 } },
          ],
        },
      ]),
    )
    expect(statusesOf(answers)).toEqual(Array(20).fill(200))
    expect(new Set(answers.map(({ body }) => body.receipts[0]?.id)).size).toBe(1)
    expect(
      succeeded(await a.rest.get(`/shipment_receipts?shipment_id=eq.${shipment.id}&select=shipment_receipt_items(id)`)),
    ).toMatchObject([{ shipment_receipt_items: [{}, {}] }])
  })

  test('the same new receipt, complete at once, 20 times: booked once', async () => {
    const item = await addItem(a)
    const shipment = await addShipment(a, { to: warehouse })
    const answers = await times(20, () =>
      upsertReceipts(a, shipment, [
        { external_ids: { n: 1 }, completed_time: receiptTime, items: [{ sku: item.sku, quantity: 5 }] },
      ]),
    )
    expect(statusesOf(answers)).toEqual([200, ...Array(19).fill(400)])
    expect(await quantitiesOf(a, item, warehouse)).toMatchObject({ available_to_sell: 5 })
  })

  test('items written while their receipt completes: booked, or refused', async () => {
    for (let round = 0; round < 6; round++) {
      const item = await addItem(a)
      const receipt = await addReceipt(a, await addShipment(a, { to: warehouse }), [{ item, quantity: 1 }])
      const insert = () =>
        a.rest.post('/shipment_receipt_items', {
          business_id: a.id,
          shipment_receipt_id: receipt.id,
          inventory_item_id: item.id,
          quantity: 1,
        })
      const [before, completion, after, change] = await Promise.all([
        insert(),
        completeReceipt(a, receipt),
        insert(),
        a.rest.patch(`/shipment_receipt_items?shipment_receipt_id=eq.${receipt.id}`, { comment: 'late' }),
      ])
      expect(completion.status).toBe(204)
      for (const answer of [before, after, change]) {
        if (answer.status >= 300) expect(answer).toMatchObject({ status: 400, body: completedReceiptRefusal })
      }
      const items = succeeded(
        await a.rest.get<object[]>(`/shipment_receipt_items?shipment_receipt_id=eq.${receipt.id}`),
      )
      expect(await quantitiesOf(a, item, warehouse)).toMatchObject({ available_to_sell: items.length })
    }
  })

  test('an item inserted but not committed when completion starts is booked, or refused: none slips in', async () => {
    const item = await addItem(a)
    const shipment = await addShipment(a, { to: warehouse })
    const receipt = await addReceipt(a, shipment)
    const completion = await lading.sql.begin(async (tx) => {
      await tx`
        insert into api.shipment_receipt_items (business_id, shipment_receipt_id, inventory_item_id, quantity)
        values (${a.id}, ${receipt.id}, ${item.id}, 5)`
      const started = completeReceipt(a, receipt)
      await new Promise((resolve) => setTimeout(resolve, 150))
      return { started }
    })
    expect(await completion.started).toMatchObject({ status: 204 })
    expect(await quantitiesOf(a, item, warehouse)).toMatchObject({ available_to_sell: 5 })
  })

  test('a receipt created while its shipment closes: one of the two is refused', async () => {
    for (let round = 0; round < 6; round++) {
      const item = await addItem(a)
      const shipment = await addShipment(a, { to: warehouse, status: 'shipped', lines: [{ item, quantity: 5 }] })
      const [creation, closing] = await Promise.all([
        a.rest.post('/shipment_receipts', { business_id: a.id, shipment_id: shipment.id }),
        patchShipment(a, shipment, { status: 'closed' }),
      ])
      const statuses = [creation.status, closing.status]
      expect([
        [201, 409],
        [409, 200],
      ]).toContainEqual(statuses)
    }
  })

  test('a receipt created but not committed when closing starts: closing waits, and is refused', async () => {
    const shipment = await addShipment(a, { to: warehouse, status: 'shipped' })
    const { started } = await lading.sql.begin(async (tx) => {
      await tx`insert into api.shipment_receipts (business_id, shipment_id) values (${a.id}, ${shipment.id})`
      const closing = patchShipment(a, shipment, { status: 'closed' })
      await new Promise((resolve) => setTimeout(resolve, 150))
      return { started: closing }
    })
    expect(await started).toMatchObject({ status: 409 })
  })

  test('closing while the last receipt completes: never both a receipt and its units taken as received', async () => {
    for (let round = 0; round < 6; round++) {
      const item = await addItem(a)
      const shipment = await addShipment(a, { to: warehouse, status: 'shipped', lines: [{ item, quantity: 10 }] })
      const receipt = await addReceipt(a, shipment, [{ item, quantity: 4 }])
      const [completion, closing] = await Promise.all([
        completeReceipt(a, receipt),
        patchShipment(a, shipment, { status: 'closed' }),
      ])
      expect(completion.status).toBe(204)
      expect([200, 409]).toContain(closing.status)
      expect(await quantitiesOf(a, item, warehouse)).toMatchObject(
        closing.status === 200 ? { available_to_sell: 10, incoming: 0 } : { available_to_sell: 4, incoming: 6 },
      )
    }
  })

  test('canceling while a receipt completes: one of the two is refused', async () => {
    for (let round = 0; round < 6; round++) {
      const item = await addItem(a)
      const shipment = await addShipment(a, { to: warehouse, status: 'shipped', lines: [{ item, quantity: 10 }] })
      const receipt = await addReceipt(a, shipment, [{ item, quantity: 4 }])
      const [completion, canceling] = await Promise.all([
        completeReceipt(a, receipt),
        patchShipment(a, shipment, { status: 'canceled' }),
      ])
      expect([
        [204, 409],
        [409, 200],
      ]).toContainEqual([completion.status, canceling.status])
      expect(await quantitiesOf(a, item, warehouse)).toMatchObject(
        completion.status === 204 ? { available_to_sell: 4, incoming: 6 } : { available_to_sell: 0, incoming: 0 },
      )
    }
  })

  test('several receipts of one shipment complete at once: together they take off incoming what was shipped', async () => {
    const item = await addItem(a)
    const shipment = await addShipment(a, { to: warehouse, status: 'shipped', lines: [{ item, quantity: 10 }] })
    const others = await addShipment(a, { to: warehouse, status: 'shipped', lines: [{ item, quantity: 7 }] })
    const receipts = await times(8, () => addReceipt(a, shipment, [{ item, quantity: 2 }]))
    expect(statusesOf(await Promise.all(receipts.map((receipt) => completeReceipt(a, receipt))))).toEqual(
      Array(8).fill(204),
    )
    expect(await quantitiesOf(a, item, warehouse)).toMatchObject({ available_to_sell: 16, incoming: 7 })
    expect(await patchShipment(a, others, { status: 'canceled' })).toMatchObject({ status: 200 })
  })

  test('a line added while its shipment ships: booked, or refused', async () => {
    for (let round = 0; round < 6; round++) {
      const item = await addItem(a)
      const shipment = await addShipment(a, { to: warehouse, lines: [{ item, quantity: 5 }] })
      const [line, shipping] = await Promise.all([
        a.rest.post('/shipment_items', {
          business_id: a.id,
          shipment_id: shipment.id,
          inventory_item_id: item.id,
          quantity: 3,
        }),
        patchShipment(a, shipment, { status: 'shipped' }),
      ])
      expect(shipping.status).toBe(200)
      expect([201, 409]).toContain(line.status)
      expect(await quantitiesOf(a, item, warehouse)).toMatchObject({ incoming: line.status === 201 ? 8 : 5 })
    }
  })

  test('shipped 10 times at once: booked once', async () => {
    const item = await addItem(a)
    const shipment = await addShipment(a, { to: warehouse, lines: [{ item, quantity: 5 }] })
    await times(10, () => patchShipment(a, shipment, { status: 'shipped' }))
    expect(await ledgerOf(a, `cause_id=eq.${shipment.id}`)).toHaveLength(1)
  })

  test('the same new shipment 10 times at once: one shipment, its items once', async () => {
    const item = await addItem(a)
    const to = await add<{ id: string; name: string }>(a, 'locations', { name: 'Dock of all' })
    const answers = await times(10, () =>
      a.rest.rpc('upsert_shipments_full', {
        shipment: {
          business_id: a.id,
          shipment_number: 'AT-ONCE',
          status: 'shipped',
          from_location: { name: 'Plant that is new to all' },
          to_location: { name: to.name },
          items: [{ sku: item.sku, quantity: 2, external_ids: { line: 1 } }],
        },
      }),
    )
    expect(statusesOf(answers), JSON.stringify(answers.map(({ body }) => body).slice(0, 2))).toEqual(
      Array(10).fill(200),
    )
    expect(await quantitiesOf(a, item, to.id)).toMatchObject({ incoming: 2 })
  })

  test('different shipments that name the same new location at once: one location', async () => {
    const answers = await times(10, (n) =>
      a.rest.rpc<{ location_to: string }>('upsert_shipments_full', {
        shipment: {
          business_id: a.id,
          shipment_number: `TO-NEW-${n}`,
          to_location: { name: 'Dock that is new to all' },
        },
      }),
    )
    expect(statusesOf(answers), JSON.stringify(answers.map(({ body }) => body).slice(0, 3))).toEqual(
      Array(10).fill(200),
    )
    expect(new Set(answers.map(({ body }) => body.location_to)).size).toBe(1)
  })

  test('a receipt deleted while its items change: no deadlock', async () => {
    const item = await addItem(a)
    const shipment = await addShipment(a, { to: warehouse })
    for (let round = 0; round < 8; round++) {
      const lines = [1, 2, 3].map((quantity) => ({ item, quantity }))
      const receipt = await addReceipt(a, shipment, lines)
      const [deletion, change] = await Promise.all([
        a.rest.delete(`/shipment_receipts?id=eq.${receipt.id}`),
        a.rest.patch(`/shipment_receipt_items?shipment_receipt_id=eq.${receipt.id}`, { quantity: 5 }),
      ])
      expect([204, 409], JSON.stringify(deletion.body)).toContain(deletion.status)
      expect(change, JSON.stringify(change.body)).toMatchObject({ status: 204 })
    }
  })

  test('in the end ledger and quantities agree', async () => {
    expect(await verify(a)).toEqual([])
  })
})
