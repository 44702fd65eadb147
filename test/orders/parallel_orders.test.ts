import { describe, expect, test } from 'vitest'
import { addChannel, addItem, addLocation, addOrder, ledgerOf, quantitiesOf, succeeded, verify } from '../builders.ts'
import { startLading } from '../harness/lading.ts'

const lading = await startLading()
const { a } = lading
const times = <Result>(count: number, act: (n: number) => Promise<Result>) =>
  Promise.all(Array.from({ length: count }, (_, n) => act(n)))
const pause = () => new Promise((resolve) => setTimeout(resolve, 150))

const aChannel = async () => {
  const location = await addLocation(a, { is_virtual: true })
  return { location, channel: await addChannel(a, location), item: await addItem(a) }
}

describe('orders in parallel', () => {
  test('lines change while the order closes: nothing stays committed', async () => {
    for (let round = 0; round < 6; round++) {
      const { location, channel, item } = await aChannel()
      const order = await addOrder(a, { channel, lines: [{ item, quantity: 4 }] })
      const answers = await Promise.all([
        a.rest.patch(`/order_line_items?id=eq.${order.lines[0]?.id}`, { quantity: 9 }),
        a.rest.patch(`/orders?id=eq.${order.id}`, { status: 'closed' }),
        a.rest.post('/order_line_items', {
          business_id: a.id,
          order_id: order.id,
          inventory_item_id: item.id,
          quantity: 3,
        }),
      ])
      for (const { status } of answers) expect(status).toBeLessThan(300)
      expect(await quantitiesOf(a, item, location)).toMatchObject({ committed: 0 })
    }
  })

  test('a line changed but not committed when closing starts: nothing stays committed', async () => {
    const { location, channel, item } = await aChannel()
    const order = await addOrder(a, { channel, lines: [{ item, quantity: 4 }] })
    const { started } = await lading.sql.begin(async (tx) => {
      await tx`update api.order_line_items set quantity = 9 where order_id = ${order.id}`
      const closing = a.rest.patch(`/orders?id=eq.${order.id}`, { status: 'closed' })
      await pause()
      return { started: closing }
    })
    succeeded(await started)
    expect(await quantitiesOf(a, item, location)).toMatchObject({ committed: 0 })
  })

  test('a line removed while the order closes is released once', async () => {
    for (let round = 0; round < 6; round++) {
      const { location, channel, item } = await aChannel()
      await addOrder(a, { channel, lines: [{ item, quantity: 10 }] })
      const order = await addOrder(a, { channel, lines: [{ item, quantity: 4 }] })
      await Promise.all([
        a.rest.delete(`/order_line_items?id=eq.${order.lines[0]?.id}`),
        a.rest.patch(`/orders?id=eq.${order.id}`, { status: 'canceled' }),
      ])
      expect(await quantitiesOf(a, item, location)).toMatchObject({ committed: 10 })
      expect(await ledgerOf(a, `cause_id=eq.${order.lines[0]?.id}`)).toHaveLength(2)
    }
  })

  test('a line added but not committed when its channel moves: committed where the channel is in the end', async () => {
    const { location, channel, item } = await aChannel()
    const elsewhere = await addLocation(a)
    const order = await addOrder(a, { channel })
    const { started } = await lading.sql.begin(async (tx) => {
      await tx`
        insert into api.order_line_items (business_id, order_id, inventory_item_id, quantity)
        values (${a.id}, ${order.id}, ${item.id}, 5)`
      const moving = a.rest.patch(`/channels?id=eq.${channel.id}`, { location_id: elsewhere })
      await pause()
      return { started: moving }
    })
    succeeded(await started)
    expect(await quantitiesOf(a, item, location)).toMatchObject({ committed: 0 })
    expect(await quantitiesOf(a, item, elsewhere)).toMatchObject({ committed: 5 })
  })

  test('orders change while their channel moves: no deadlock, committed where the channel is in the end', async () => {
    for (let round = 0; round < 8; round++) {
      const { location, channel, item } = await aChannel()
      const elsewhere = await addLocation(a)
      const orders = await times(6, () => addOrder(a, { channel, lines: [{ item, quantity: 2 }] }))
      const answers = await Promise.all([
        ...orders.slice(0, 3).map(({ id }) => a.rest.patch(`/orders?id=eq.${id}`, { status: 'closed' })),
        a.rest.patch(`/channels?id=eq.${channel.id}`, { location_id: elsewhere }),
        ...orders.slice(3).map(({ lines }) => a.rest.patch(`/order_line_items?id=eq.${lines[0]?.id}`, { quantity: 3 })),
      ])
      expect(answers.map(({ status, body }) => (status === 204 ? status : body))).toEqual(Array(7).fill(204))
      expect(await quantitiesOf(a, item, location)).toMatchObject({ committed: 0 })
      expect(await quantitiesOf(a, item, elsewhere)).toMatchObject({ committed: 9 })
    }
  })

  test('an order closed but not committed when its channel moves: no deadlock, nothing stays committed', async () => {
    const { location, channel, item } = await aChannel()
    const elsewhere = await addLocation(a)
    const order = await addOrder(a, { channel, lines: [{ item, quantity: 2 }] })
    const { started } = await lading.sql.begin(async (tx) => {
      await tx`update api.channels set location_id = ${elsewhere} where id = ${channel.id}`
      const closing = a.rest.patch(`/orders?id=eq.${order.id}`, { status: 'closed' })
      await pause()
      return { started: closing }
    })
    expect(await started).toMatchObject({ status: 204 })
    expect(await quantitiesOf(a, item, location)).toMatchObject({ committed: 0 })
    expect(await quantitiesOf(a, item, elsewhere)).toMatchObject({ committed: 0 })
  })

  test('closed and reopened by many at once: committed as its state in the end asks', async () => {
    const { location, channel, item } = await aChannel()
    const order = await addOrder(a, { channel, lines: [{ item, quantity: 4 }] })
    await times(16, (n) => a.rest.patch(`/orders?id=eq.${order.id}`, { status: n % 2 === 0 ? 'closed' : 'open' }))
    const [{ status } = { status: '' }] = succeeded(await a.rest.get<{ status: string }[]>(`/orders?id=eq.${order.id}`))
    expect(await quantitiesOf(a, item, location)).toMatchObject({ committed: status === 'open' ? 4 : 0 })
  })

  test('the same new order 20 times at once: one order, its lines, customer and addresses once', async () => {
    const { location, channel, item } = await aChannel()
    const answers = await times(20, () =>
      a.rest.rpc<{ id: string }>('upsert_orders_full', {
        order: {
          business_id: a.id,
          channel_id: channel.id,
          channel_order_id: 'AT-ONCE',
          customer: { name: 'Ada', billing_address: { city: 'Kiel' } },
          line_items: [{ sku: item.sku, quantity: 2, external_ids: { line: 1 } }],
        },
      }),
    )
    expect(answers.map(({ status, body }) => (status === 200 ? status : body))).toEqual(Array(20).fill(200))
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1)
    expect(await quantitiesOf(a, item, location)).toMatchObject({ committed: 2 })
    expect(succeeded(await a.rest.get(`/customers?name=eq.Ada`))).toHaveLength(1)
  })

  test('an order given by different keys at once: one order', async () => {
    const { channel, item } = await aChannel()
    const keys = [
      { channel_id: channel.id, channel_order_id: 'MIXED' },
      { purchase_order_number: 'PO-MIXED' },
      { external_ids: { erp: 'MIXED' } },
    ]
    const whole = Object.assign({}, ...keys)
    const answers = await times(12, () =>
      a.rest.rpc<{ id: string }>('upsert_orders_full', {
        order: { business_id: a.id, ...whole, line_items: [{ sku: item.sku, quantity: 1, external_ids: { l: 1 } }] },
      }),
    )
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1)
  })

  test('orders reopened with new lines of the same items, in opposite order: no deadlock', async () => {
    const { channel, item } = await aChannel()
    const other = await addItem(a)
    const orders = await times(8, (n) =>
      addOrder(a, { channel, status: 'closed', lines: [{ item: n % 2 === 0 ? item : other, quantity: 1 }] }),
    )
    const answers = await Promise.all(
      orders.map(({ id }, n) =>
        a.rest.rpc('upsert_orders_full', {
          order: {
            business_id: a.id,
            id,
            status: 'open',
            line_items: [{ sku: n % 2 === 0 ? other.sku : item.sku, quantity: 1 }],
          },
        }),
      ),
    )
    expect(answers.map(({ status, body }) => (status === 200 ? status : body))).toEqual(Array(8).fill(200))
  })

  test('an order deleted while its lines change: no deadlock, nothing stays committed', async () => {
    for (let round = 0; round < 8; round++) {
      const { location, channel, item } = await aChannel()
      const lines = [1, 2, 3].map((quantity) => ({ item, quantity }))
      const order = await addOrder(a, { channel, lines })
      const [deletion, ...changes] = await Promise.all([
        a.rest.delete(`/orders?id=eq.${order.id}`),
        ...order.lines.map(({ id }) => a.rest.patch(`/order_line_items?id=eq.${id}`, { quantity: 5 })),
      ])
      expect([204, 409], JSON.stringify(deletion.body)).toContain(deletion.status)
      expect(changes.map(({ status, body }) => (status === 204 ? status : body))).toEqual([204, 204, 204])
      expect(await quantitiesOf(a, item, location)).toMatchObject({ committed: deletion.status === 204 ? 0 : 15 })
    }
  })

  test('in the end ledger and quantities agree', async () => {
    expect(await verify(a)).toEqual([])
  })
})
