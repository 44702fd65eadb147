import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { z } from 'zod'
import { type Answer, read } from './http.ts'

const warehouseOrder = z.object({
  warehouseOrderId: z.string(),
  channelOrderId: z.string(),
  locationId: z.string(),
  lineItems: z.array(z.object({ sku: z.string(), quantity: z.int() })),
})

/** All that the warehouse knows of an order: what it was sent. */
type WarehouseOrder = z.infer<typeof warehouseOrder>

export interface Parcel {
  lines: WarehouseOrder['lineItems']
  trackingNumber: string
  shippedAt: string
  /** More parcels of the same order follow. */
  inParts?: boolean
}

const updateResult = z.object({
  updateResult: z.object({ inventoryAdjustmentCount: z.int(), orderActivityCount: z.int(), orderUpdateCount: z.int() }),
})

const message = (order: WarehouseOrder, fields: object, partialShipments = false) => ({
  orderUpdate: {
    channelOrderId: order.channelOrderId,
    fulfillments: [
      {
        locationId: order.locationId,
        additionalFields: [{ name: 'warehouse_order_id', value: order.warehouseOrderId }],
        ...fields,
      },
    ],
  },
  fulfillmentOptions: { partialShipments },
})

const confirmation = (order: WarehouseOrder, { lines, inParts, ...shipping }: Parcel) =>
  message(order, { status: 'OPEN', shippingCompany: 'Toy Parcel', ...shipping, lineItems: lines }, inParts)

/** A warehouse's own server on loopback: /orders takes orders, /jammed answers 500. It reports through `post`. */
export async function openToyWarehouse(post: (message: object) => Promise<Answer>) {
  const taken = new Map<string, WarehouseOrder>()

  const receive = async (request: IncomingMessage, response: ServerResponse) => {
    if (request.url !== '/orders') {
      response.writeHead(500).end('Conveyor jammed')
      return
    }
    const order = warehouseOrder.parse(await json(request))
    taken.set(order.warehouseOrderId, order)
    response.end('Taken')
  }
  const server = createServer((request, response) => {
    receive(request, response).catch((error: unknown) => response.writeHead(400).end(String(error)))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo

  const orderOf = (warehouseOrderId: string): WarehouseOrder => {
    const order = taken.get(warehouseOrderId)
    if (order === undefined) throw new Error(`the toy warehouse was not sent ${warehouseOrderId}`)
    return order
  }
  const report = async (told: object) => read('The callback', await post(told), 200, updateResult).updateResult

  return {
    ordersUrl: `http://127.0.0.1:${port}/orders`,
    jammedUrl: `http://127.0.0.1:${port}/jammed`,
    acknowledge: (id: string) => {
      const order = orderOf(id)
      return report(message(order, { status: 'PENDING', pickList: 'early shift', lineItems: order.lineItems }))
    },
    ship: (id: string, parcel: Parcel) => report(confirmation(orderOf(id), parcel)),
    /** A confirmation that Lading already has. */
    repeat: async (id: string, parcel: Parcel) =>
      read('The repeated callback', await post(confirmation(orderOf(id), parcel)), 204, z.literal('')),
    cancel: (id: string, cancellationReason: string) => report({ warehouseOrderId: id, cancellationReason }),
    refuse: (id: string, rejectionReason: string) => report({ warehouseOrderId: id, rejectionReason }),
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

export type ToyWarehouse = Awaited<ReturnType<typeof openToyWarehouse>>
