import { describe, expect, test } from 'vitest'
import { add, addItem, addShipment, dryRun, patchShipment, succeeded } from '../../builders.ts'
import { startLading } from '../../harness/lading.ts'
import { actionsOf, addConfiguration, eventsOf } from '../webhooks.ts'

const lading = await startLading()
const { a, b, sql } = lading
await addConfiguration(a)

/** What a call adds to the events of a shipment. */
const added = async (shipment: { id: string }, call: () => Promise<unknown>): Promise<string[]> => {
  const before = await actionsOf(a, shipment)
  await call()
  return (await actionsOf(a, shipment)).slice(before.length)
}

describe('one event per change and action', () => {
  test('created', async () => {
    const shipment = await addShipment(a, {})
    expect(await eventsOf(a, shipment)).toEqual([
      {
        id: expect.any(String),
        action: 'shipment.created',
        status: 'ready',
        transaction_id: expect.any(Number),
        json: null,
      },
    ])
  })

  test('updated', async () => {
    const shipment = await addShipment(a, {})
    expect(await added(shipment, () => patchShipment(a, shipment, { carrier: 'Sea' }))).toEqual(['shipment.updated'])
  })

  test('a change of status is updated and updated.status, of one transaction', async () => {
    const shipment = await addShipment(a, {})
    const change = async () => succeeded(await patchShipment(a, shipment, { status: 'canceled' }))
    expect(await added(shipment, change)).toEqual(['shipment.updated', 'shipment.updated.status'])
    const [, updated, status] = await eventsOf(a, shipment)
    expect(updated?.transaction_id).toBe(status?.transaction_id)
  })

  test('deleted', async () => {
    const shipment = await addShipment(a, {})
    expect(await added(shipment, () => a.rest.delete(`/shipments?id=eq.${shipment.id}`))).toEqual(['shipment.deleted'])
  })

  test('every one of several', async () => {
    const shipments = succeeded(
      await a.rest.post<{ id: string }[]>(
        '/shipments',
        ['x', 'y', 'z'].map((n) => ({ business_id: a.id, shipment_number: `several-${n}` })),
        { Prefer: 'return=representation' },
      ),
    )
    for (const shipment of shipments) expect(await actionsOf(a, shipment)).toEqual(['shipment.created'])
    succeeded(await a.rest.patch(`/shipments?shipment_number=like.several*`, { carrier: 'Rail' }))
    for (const shipment of shipments) {
      expect(await actionsOf(a, shipment)).toEqual(['shipment.created', 'shipment.updated'])
    }
  })
})

describe('its items and packages', () => {
  test('added, changed and removed ones are updates of the shipment', async () => {
    const shipment = await addShipment(a, {})
    const item = await addItem(a)
    for (const [resource, row, change] of [
      ['shipment_items', { inventory_item_id: item.id, quantity: 1 }, { quantity: 2 }],
      ['shipment_packages', {}, { carton_id: 'C-1' }],
    ] as const) {
      const child = { id: '' }
      const path = () => `/${resource}?id=eq.${child.id}`
      const once = ['shipment.updated']
      expect(
        await added(shipment, async () =>
          Object.assign(child, await add(a, resource, { shipment_id: shipment.id, ...row })),
        ),
      ).toEqual(once)
      expect(await added(shipment, () => a.rest.patch(path(), change))).toEqual(once)
      expect(await added(shipment, () => a.rest.patch(path(), change)), 'nothing changed').toEqual([])
      expect(await added(shipment, () => a.rest.delete(path()))).toEqual(once)
    }
  })

  test('an item that is moved updates both shipments', async () => {
    const [from, to] = [
      await addShipment(a, { lines: [{ item: await addItem(a), quantity: 1 }] }),
      await addShipment(a, {}),
    ]
    const before = await actionsOf(a, from)
    succeeded(await a.rest.patch(`/shipment_items?shipment_id=eq.${from.id}`, { shipment_id: to.id }))
    expect((await actionsOf(a, from)).slice(before.length)).toEqual(['shipment.updated'])
    expect(await actionsOf(a, to)).toEqual(['shipment.created', 'shipment.updated'])
  })

  test('a shipment created in full in one call is created, and not updated', async () => {
    const item = await addItem(a)
    const shipment = succeeded(
      await a.rest.rpc<{ id: string }>('upsert_shipments_full', {
        shipment: {
          business_id: a.id,
          shipment_number: 'in-full',
          items: [{ sku: item.sku, quantity: 1 }],
          packages: [{ items: [{ sku: item.sku, quantity: 2 }] }],
        },
      }),
    )
    expect(await actionsOf(a, shipment)).toEqual(['shipment.created'])
  })
})

describe('no event', () => {
  test('where nothing changes', async () => {
    const shipment = await addShipment(a, {})
    expect(
      await added(shipment, () => patchShipment(a, shipment, { shipment_number: shipment.shipment_number })),
    ).toEqual([])
  })

  test('in a dry run', async () => {
    const shipment = await addShipment(a, {})
    expect(
      await added(shipment, () => a.rest.patch(`/shipments?id=eq.${shipment.id}`, { carrier: 'X' }, dryRun)),
    ).toEqual([])
  })

  test('of a change that is rolled back', async () => {
    const shipment = await addShipment(a, {})
    const failing = () =>
      sql
        .begin(async (transaction) => {
          await transaction`update api.shipments set carrier = 'Air' where id = ${shipment.id}`
          throw new Error('changed my mind')
        })
        .catch(() => undefined)
    expect(await added(shipment, failing)).toEqual([])
  })

  test('where nobody is subscribed to the action, or to anything', async () => {
    const none = await addShipment(b, {})
    await addConfiguration(b, { actions: ['shipment.deleted', 'shipment_receipt.created'] })
    const other = await addShipment(b, {})
    succeeded(await patchShipment(b, other, { status: 'canceled' }))
    expect([await actionsOf(b, none), await actionsOf(b, other)]).toEqual([[], []])
    succeeded(await b.rest.delete(`/shipments?id=eq.${other.id}`))
    expect(await actionsOf(b, other)).toEqual(['shipment.deleted'])
  })

  test('where the configuration is disabled', async () => {
    const business = await lading.addBusiness('Disabled')
    const configuration = await addConfiguration(business, { is_enabled: false })
    const unheard = await addShipment(business, {})
    succeeded(await business.rest.patch(`/webhook_configurations?id=eq.${configuration.id}`, { is_enabled: true }))
    const heard = await addShipment(business, {})
    expect([await actionsOf(business, unheard), await actionsOf(business, heard)]).toEqual([[], ['shipment.created']])
  })
})
