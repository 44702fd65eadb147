import { describe, expect, test } from 'vitest'
import { addChannel, distinct } from '../../builders.ts'
import { startLading } from '../../harness/lading.ts'
import { applied, expectRefused } from '../callback.ts'
import { addPending, addStep, named, type Pending } from '../scenario.ts'
import { expectUnchanged } from '../snapshot.ts'

const lading = await startLading()
const { a, sql } = lading

const whole = ({ item }: Pending) => [{ sku: item.sku, quantity: 10 }]
const numbers = () => ({ channel_order_id: distinct('CO'), purchase_order_number: distinct('PO') })
const addNumbered = async (fields: object = {}) => {
  const orderFields = numbers()
  const given = await addPending(lading, { orderFields, channel: await addChannel(a, null), ...fields })
  return {
    ...given,
    channelOrderId: orderFields.channel_order_id,
    purchaseOrderNumber: orderFields.purchase_order_number,
  }
}

describe('the order is found by each identifier alone', () => {
  for (const [name, identifiers] of [
    ['id', (given) => ({ id: given.order.id })],
    ['id in capitals', (given) => ({ id: given.order.id.toUpperCase() })],
    ['channelOrderId', (given) => ({ channelOrderId: given.channelOrderId })],
    ['purchaseOrderNumber', (given) => ({ purchaseOrderNumber: given.purchaseOrderNumber })],
  ] as [string, (given: Awaited<ReturnType<typeof addNumbered>>) => object][]) {
    test(name, async () => {
      const [given, other] = [await addNumbered(), await addNumbered()]
      applied(await given.post({ lineItems: whole(given) }, { order: identifiers(given) }))
      expect([await given.states(), await given.stock()]).toEqual([['OPEN 10'], '90/0'])
      expect(await other.states()).toEqual(['PENDING 10'])
    })
  }

  test('the warehouse_order_id of a fulfillment', async () => {
    const [given, other] = [await addNumbered(), await addNumbered()]
    applied(
      await given.post(
        { lineItems: whole(given), additionalFields: named({ warehouse_order_id: given.warehouseOrderId }) },
        { order: {} },
      ),
    )
    expect([await given.states(), await other.states()]).toEqual([['OPEN 10'], ['PENDING 10']])
  })

  test('all of them at once', async () => {
    const given = await addNumbered()
    applied(
      await given.post(
        { lineItems: whole(given), additionalFields: named({ warehouse_order_id: given.warehouseOrderId }) },
        {
          order: {
            id: given.order.id,
            channelOrderId: given.channelOrderId,
            purchaseOrderNumber: given.purchaseOrderNumber,
          },
        },
      ),
    )
    expect(await given.states()).toEqual(['OPEN 10'])
  })

  test('null identifiers are not given', async () => {
    const given = await addNumbered()
    applied(
      await given.post(
        { lineItems: whole(given) },
        { order: { id: given.order.id, channelOrderId: null, purchaseOrderNumber: null } },
      ),
    )
    expect(await given.states()).toEqual(['OPEN 10'])
  })

  test('a warehouse_order_id that is new identifies nothing and is stored', async () => {
    const given = await addPending(lading, { fulfillmentFields: { additional_fields: null } })
    applied(await given.ship(10, { additionalFields: named({ warehouse_order_id: 'brand new' }) }))
    const [stored] = (await a.rest.get<{ additional_fields: object }[]>(`/fulfillments?id=eq.${given.fulfillment.id}`))
      .body
    expect(stored?.additional_fields).toEqual({ warehouse_order_id: 'brand new' })
  })
})

describe('refused with 400, nothing changes', () => {
  test('no identifier at all', async () => {
    const given = await addNumbered()
    await expectUnchanged(sql, async () => {
      expectRefused(await given.post({ lineItems: whole(given) }, { order: {} }), 'orderUpdate')
      expectRefused(
        await given.post({ lineItems: whole(given) }, { order: { id: null, channelOrderId: null } }),
        'orderUpdate',
      )
    })
  })

  test('no order has it', async () => {
    const given = await addNumbered()
    const unknown = [
      { id: crypto.randomUUID() },
      { id: 'nonsense' },
      { channelOrderId: 'nonsense' },
      { purchaseOrderNumber: 'nonsense' },
      { channelOrderId: given.purchaseOrderNumber },
      { purchaseOrderNumber: given.channelOrderId },
    ]
    await expectUnchanged(sql, async () => {
      for (const order of unknown) {
        expectRefused(await given.post({ lineItems: whole(given) }, { order }), 'orderUpdate: no order has')
      }
      expectRefused(
        await given.post(
          { lineItems: whole(given), additionalFields: named({ warehouse_order_id: 'nobody knows it' }) },
          { order: {} },
        ),
        'nobody knows it',
      )
    })
  })

  test('identifiers of different orders, or one right and one wrong', async () => {
    const [given, other] = [await addNumbered(), await addNumbered()]
    const disagreeing = [
      { id: given.order.id, channelOrderId: other.channelOrderId },
      { id: given.order.id, purchaseOrderNumber: other.purchaseOrderNumber },
      { channelOrderId: given.channelOrderId, purchaseOrderNumber: other.purchaseOrderNumber },
      { id: given.order.id, channelOrderId: 'nonsense' },
      { id: 'nonsense', channelOrderId: given.channelOrderId },
      { id: crypto.randomUUID(), purchaseOrderNumber: given.purchaseOrderNumber },
    ]
    await expectUnchanged(sql, async () => {
      for (const order of disagreeing) {
        expectRefused(await given.post({ lineItems: whole(given) }, { order }), 'orderUpdate')
      }
      expectRefused(
        await given.post({
          lineItems: whole(given),
          additionalFields: named({ warehouse_order_id: other.warehouseOrderId }),
        }),
        'orderUpdate',
      )
    })
  })

  test('fulfillments whose warehouse_order_ids belong to two orders', async () => {
    const [given, other] = [await addNumbered(), await addNumbered()]
    await expectUnchanged(sql, async () => {
      for (const warehouseOrderIds of [
        [given.warehouseOrderId, other.warehouseOrderId],
        [other.warehouseOrderId, given.warehouseOrderId],
      ]) {
        const fields = named({})
        fields.push(...warehouseOrderIds.map((value) => ({ name: 'warehouse_order_id', value })))
        expectRefused(
          await given.post({ lineItems: whole(given), additionalFields: fields }, { order: {} }),
          'orderUpdate',
        )
      }
    })
  })

  test('one channel_order_id in two channels and no channel filter: several', async () => {
    const channelOrderId = distinct('CO')
    const given = await addPending(lading, {
      channel: await addChannel(a, null),
      orderFields: { channel_order_id: channelOrderId },
    })
    await addPending(lading, { channel: await addChannel(a, null), orderFields: { channel_order_id: channelOrderId } })
    await expectUnchanged(sql, async () => {
      expectRefused(await given.post({ lineItems: whole(given) }, { order: { channelOrderId } }), channelOrderId)
    })
    applied(await given.post({ lineItems: whole(given) }, { order: { channelOrderId, id: given.order.id } }))
    expect(await given.states()).toEqual(['OPEN 10'])
  })
})

describe('the channel filter of the step', () => {
  test('an order of another channel, or of none, is not there for the step: 400', async () => {
    const [mine, others] = [await addChannel(a, null), await addChannel(a, null)]
    const stepFields = { channel_ids: [mine.id] }
    for (const channel of [others, null]) {
      const given = await addPending(lading, { channel, stepFields })
      await expectUnchanged(sql, async () => expectRefused(await given.ship(10), 'no order'))
    }
    const given = await addPending(lading, { channel: mine, stepFields })
    applied(await given.ship(10))
  })

  test('several channels: orders of each', async () => {
    const channels = [await addChannel(a, null), await addChannel(a, null)]
    for (const channel of channels) {
      const given = await addPending(lading, { channel, stepFields: { channel_ids: channels.map(({ id }) => id) } })
      applied(await given.ship(10))
      expect(await given.stock()).toBe('90/0')
    }
  })

  test('a warehouse_order_id that repeats across channels: the order of the channel', async () => {
    const [one, two] = [await addChannel(a, null), await addChannel(a, null)]
    const additional_fields = { warehouse_order_id: distinct('WO') }
    const given = await addPending(lading, {
      channel: one,
      stepFields: { channel_ids: [one.id] },
      fulfillmentFields: { additional_fields },
    })
    const other = await addPending(lading, { channel: two, fulfillmentFields: { additional_fields } })
    const posted = { lineItems: whole(given), additionalFields: named(additional_fields) }
    const unfiltered = await addStep(a, [given.location])
    expect(unfiltered).not.toBe(given.step)
    await expectUnchanged(sql, async () => {
      expectRefused(await other.post({ ...posted, lineItems: whole(other) }, { order: {} }), 'several orders')
    })
    applied(await given.post(posted, { order: {} }))
    expect([await given.states(), await other.states()]).toEqual([['OPEN 10'], ['PENDING 10']])
  })
})
