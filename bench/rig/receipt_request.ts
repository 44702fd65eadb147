import type { ShipmentsToReceive, ShipmentToReceive } from '../datasets/shipments_to_receive.ts'
import type { HttpRequest } from './load.ts'

const RECEIVED = '2025-06-02T09:30:00Z'

/** The upsert call for one receipt of all items of a shipment. */
export const receiptRequest = (
  { businessId, headers }: ShipmentsToReceive,
  shipment: ShipmentToReceive,
  receipt: { quantity: number; isCompleted: boolean },
): HttpRequest => ({
  method: 'POST',
  path: '/rpc/upsert_shipment_receipts_full',
  headers,
  body: JSON.stringify({
    shipment_receipts_full: {
      business_id: businessId,
      shipment_number: shipment.number,
      receipts: [
        {
          received_time: RECEIVED,
          ...(receipt.isCompleted ? { completed_time: '2025-06-02T10:00:00Z' } : {}),
          external_ids: { confirmation_id: `R-${shipment.number}` },
          items: shipment.items.map(({ sku }, index) => ({
            sku,
            quantity: receipt.quantity,
            receipt_time: RECEIVED,
            external_ids: { shipment_line_number: String(index + 1) },
          })),
        },
      ],
    },
  }),
})
