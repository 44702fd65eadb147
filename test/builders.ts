import { expect } from 'vitest'
import type { TestBusiness } from './harness/lading.ts'
import type { Answer } from './harness/rest_client.ts'

/** The business that acts, with its client. */
export type Acting = Pick<TestBusiness, 'id' | 'rest'>

export interface Item {
  id: string
  sku: string
}

export interface Line {
  item: Item
  quantity: number
}

export interface Shipment {
  id: string
  shipment_number: string
  status: string
  location_from: string | null
  location_to: string | null
}

export interface Quantities {
  available_to_sell: number
  committed: number
  on_hand: number
  on_hold: number
  on_order: number
  reserve: number
  incoming: number
  unavailable: number
  available_to_promise: number
}

export interface LedgerEntry {
  id: string
  inventory_item_id: string
  location_id: string
  inventory_status: keyof Quantities
  operation: 'ADJUST' | 'SET'
  quantity: number
  quantity_after: number
  cause_type: string
  cause_id: string | null
  memo: string | null
  idempotency_key: string | null
}

export const noQuantities: Quantities = {
  available_to_sell: 0,
  committed: 0,
  on_hand: 0,
  on_hold: 0,
  on_order: 0,
  reserve: 0,
  incoming: 0,
  unavailable: 0,
  available_to_promise: 0,
}

export const representation = { Prefer: 'return=representation' }
export const dryRun = { Prefer: 'return=representation, tx=rollback' }
export const receiptTime = '2026-03-02T10:00:00+00:00'

/** What every path answers that would change a completed receipt. */
export const completedReceiptRefusal = {
  code: 'P0001',
  details: null,
  hint: null,
  message: 'Cannot update a receipt that is already complete',
}

let made = 0
export const distinct = (name: string): string => `${name}-${++made}`

/** The body of an answer that must be a success. */
export const succeeded = <Body>(answer: Answer<Body>): Body => {
  expect(answer, JSON.stringify(answer.body)).toMatchObject({ status: expect.toSatisfy((code) => code < 300) })
  return answer.body
}

/** Adds one record to a table resource of the business. */
export const add = async <Row = { id: string }>(business: Acting, resource: string, row: object): Promise<Row> => {
  const rows = succeeded(
    await business.rest.post<Row[]>(`/${resource}`, { business_id: business.id, ...row }, representation),
  )
  return rows[0] as Row
}

export const addLocation = async (business: Acting, fields: object = {}): Promise<string> =>
  (await add(business, 'locations', { name: distinct('Warehouse'), ...fields })).id

export const addItem = (business: Acting, sku = distinct('SKU')): Promise<Item> =>
  add<Item>(business, 'inventory_items', { sku })

interface NewShipment {
  from?: string | null
  to?: string | null
  /** The state that it is brought to once its lines are there. */
  status?: 'unshipped' | 'shipped' | 'closed' | 'canceled'
  lines?: Line[]
}

export const addShipment = async (
  business: Acting,
  { from = null, to = null, status = 'unshipped', lines = [] }: NewShipment,
): Promise<Shipment> => {
  const shipment = await add<Shipment>(business, 'shipments', {
    shipment_number: distinct('SHP'),
    location_from: from,
    location_to: to,
  })
  for (const { item, quantity } of lines) {
    await add(business, 'shipment_items', { shipment_id: shipment.id, inventory_item_id: item.id, quantity })
  }
  if (status !== 'unshipped') succeeded(await patchShipment(business, shipment, { status }))
  return shipment
}

export const patchShipment = (business: Acting, shipment: { id: string }, fields: object) =>
  business.rest.patch<Shipment[]>(`/shipments?id=eq.${shipment.id}`, fields, representation)

export const addReceipt = async (
  business: Acting,
  shipment: { id: string },
  lines: (Line & { available?: boolean })[] = [],
): Promise<{ id: string }> => {
  const receipt = await add(business, 'shipment_receipts', { shipment_id: shipment.id })
  for (const { item, quantity, available = true } of lines) {
    await add(business, 'shipment_receipt_items', {
      shipment_receipt_id: receipt.id,
      inventory_item_id: item.id,
      quantity,
      available,
    })
  }
  return receipt
}

/** Completes a receipt by a PATCH of its table. */
export const completeReceipt = (business: Acting, receipt: { id: string }) =>
  business.rest.patch(`/shipment_receipts?id=eq.${receipt.id}`, { completed_time: receiptTime })

export interface ReceiptItem {
  id: string
  sku: string
  inventory_item_id: string
  shipment_receipt_id: string
  quantity: number
  available: boolean
  comment: string | null
  external_ids: object | null
}

export interface Receipt {
  id: string
  shipment_id: string
  received_time: string
  completed_time: string | null
  external_ids: object | null
  additional_fields: object | null
  items: ReceiptItem[]
  discrepancies: { inventory_item_id: string; sku: string; shipped: number; received: number }[]
}

export interface ReceiptsAnswer {
  business_id: string
  shipment_id: string
  shipment_number: string
  receipts: Receipt[]
}

export interface GivenReceipt {
  items?: object[]
  [field: string]: unknown
}

/** upsert_shipment_receipts_full, with the times that a receipt and its items require filled in. */
export const upsertReceipts = (
  business: Acting,
  shipment: { shipment_number: string },
  receipts: GivenReceipt[],
  { patch, headers }: { patch?: boolean; headers?: Record<string, string> } = {},
) =>
  business.rest.rpc<ReceiptsAnswer>(
    'upsert_shipment_receipts_full',
    {
      shipment_receipts_full: {
        business_id: business.id,
        shipment_number: shipment.shipment_number,
        receipts: receipts.map((receipt) => ({
          received_time: receiptTime,
          ...receipt,
          items: (receipt.items ?? []).map((item) => ({ receipt_time: receiptTime, ...item })),
        })),
      },
      ...(patch === undefined ? {} : { patch }),
    },
    headers,
  )

export const quantitiesOf = async (business: Acting, item: Item, location: string): Promise<Quantities> => {
  const columns = Object.keys(noQuantities).join()
  const rows = succeeded(
    await business.rest.get<Quantities[]>(
      `/inventory_quantities?select=${columns}&inventory_item_id=eq.${item.id}&location_id=eq.${location}`,
    ),
  )
  return rows[0] ?? noQuantities
}

/** The ledger entries of the business in the order written; `filter` as in a list, `cause_id=eq.…`. */
export const ledgerOf = async (business: Acting, filter = ''): Promise<LedgerEntry[]> =>
  succeeded(
    await business.rest.get<LedgerEntry[]>(
      `/inventory_adjustments?business_id=eq.${business.id}&order=id${filter === '' ? '' : `&${filter}`}`,
    ),
  )

export interface Adjustment {
  sku?: string
  inventory_item_id?: string
  location_id: string
  inventory_status: string
  operation?: 'ADJUST' | 'SET'
  quantity: number
  memo?: string
  idempotent_key?: string
}

export interface AdjustAnswer {
  adjusted: number
  set: number
  duplicates: number
  adjustments: LedgerEntry[]
}

export const adjust = (business: Acting, adjustments: Adjustment[], headers?: Record<string, string>) =>
  business.rest.rpc<AdjustAnswer>(
    'adjust_inventory',
    { business_id: business.id, adjustments: adjustments.map((one) => ({ operation: 'ADJUST', ...one })) },
    headers,
  )

export const stock = async (business: Acting, item: Item, location: string, quantity: number): Promise<void> => {
  succeeded(
    await adjust(business, [
      { sku: item.sku, location_id: location, inventory_status: 'available_to_sell', operation: 'SET', quantity },
    ]),
  )
}

export const verify = async (business: Acting): Promise<unknown> =>
  succeeded(await business.rest.rpc('verify_inventory', { business_id: business.id }))

export interface Order {
  id: string
  status: string
}

/** A sales order on a channel, with one line per item. */
export const addOrder = async (
  business: Acting,
  { channel, lines = [], ...fields }: { channel: { id: string } | null; lines?: Line[]; [field: string]: unknown },
): Promise<{ id: string; lines: { id: string }[] }> => {
  const order = await add<Order>(business, 'orders', { channel_id: channel?.id ?? null, ...fields })
  const added: { id: string }[] = []
  for (const { item, quantity } of lines) {
    added.push(await add(business, 'order_line_items', { order_id: order.id, inventory_item_id: item.id, quantity }))
  }
  return { id: order.id, lines: added }
}

export const addChannel = (business: Acting, location: string | null) =>
  add<{ id: string }>(business, 'channels', { name: distinct('Channel'), location_id: location })
