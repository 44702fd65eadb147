import { z } from 'zod'

const LONGEST_TEXT = 1_000
const LONGEST_ADDRESS = 2_048
const LONGEST_REASON = 10_000
const LARGEST_INTEGER = 2_147_483_647
const MOST_FULFILLMENTS = 5_000
const MOST_LINES = 10_000
const MOST_TRACKING_URLS = 1_000
const MOST_ADDITIONAL_FIELDS = 1_000

const text = z.string().max(LONGEST_TEXT)
const name = text.min(1)
const optionalText = text.nullish()
const minorUnits = z.int().min(-LARGEST_INTEGER).max(LARGEST_INTEGER).nullish()

/** Postgres has no year 0 and no offset of 16 hours or more. */
const time = z.iso
  .datetime({ offset: true, local: true })
  .max(40)
  .refine((value) => !value.startsWith('0000') && !/[+-](1[6-9]|2\d):\d\d$/.test(value), 'must be an existing time')

const additionalFields = z
  .array(z.looseObject({ name, value: z.unknown() }))
  .max(MOST_ADDITIONAL_FIELDS)
  .nullish()
  .meta({ description: 'A name given twice keeps its last value. warehouse_order_id can identify the order.' })

const lineItem = z
  .looseObject({
    id: name.nullish().meta({ description: "Lading's id of the fulfillment line, or that of the order line." }),
    sku: name.nullish(),
    quantity: z.int().min(1).max(LARGEST_INTEGER),
    title: optionalText,
    additionalFields,
    grams: z.number().min(0).max(1e12).nullish(),
    price: minorUnits.meta({ description: 'In minor units, as shippingPrice and shippingTax.' }),
    shippingPrice: minorUnits,
    shippingTax: minorUnits,
    shippingMethod: optionalText,
    vendor: optionalText,
  })
  .refine((line) => (line.id ?? line.sku) != null, 'id or sku is required')
  .meta({ anyOf: [{ required: ['id'] }, { required: ['sku'] }] })

const fulfillment = z
  .looseObject({
    id: optionalText.meta({ description: "Lading's id of the fulfillment; another one is ignored." }),
    locationId: name.meta({ description: "A locationId of the step's warehouse location map." }),
    status: z.enum(['OPEN', 'SUCCESS', 'CANCELED', 'PENDING', 'NEW', 'BACKORDER']),
    lineItems: z.array(lineItem).max(MOST_LINES),
    additionalFields,
    trackingNumber: optionalText,
    trackingUrls: z.array(z.string().max(LONGEST_ADDRESS)).max(MOST_TRACKING_URLS).nullish(),
    shippingCompany: optionalText,
    shippingMethod: optionalText,
    shippedAt: time.nullish().meta({ description: 'Default: the current time.' }),
    supplierId: optionalText,
    purchaseOrderNumber: optionalText,
  })
  .meta({ description: 'Any other field is merged into the fulfillment.' })

export const orderUpdateMessage = z
  .looseObject({
    orderUpdate: z
      .looseObject({
        id: optionalText,
        channelOrderId: optionalText,
        purchaseOrderNumber: optionalText,
        fulfillments: z.array(fulfillment).max(MOST_FULFILLMENTS),
      })
      .meta({
        description:
          'id, channelOrderId, purchaseOrderNumber or the warehouse_order_id of a fulfillment must identify the order.',
      }),
    fulfillmentOptions: z
      .looseObject({
        partialShipments: z
          .boolean()
          .nullish()
          .meta({ description: 'Several receipts per fulfillment: what is left out stays PENDING.' }),
      })
      .nullish(),
  })
  .meta({ description: 'A warehouse acknowledges or ships fulfillments of an order.' })

const reason = z.string().min(1).max(LONGEST_REASON)

export const rejectionMessage = z
  .looseObject({ warehouseOrderId: name, rejectionReason: reason })
  .refine((message) => message.cancellationReason == null, 'rejectionReason and cancellationReason exclude each other')
  .meta({ description: 'A warehouse refuses an order: its fulfillments are removed, the order is put on hold.' })

export const cancellationMessage = z
  .looseObject({ warehouseOrderId: name, cancellationReason: reason })
  .meta({ description: 'A warehouse cancels an order: its fulfillments are canceled.' })

export const updateResult = z.object({
  inventoryAdjustmentCount: z.int().min(0).meta({ description: 'Ledger entries of operation ADJUST.' }),
  inventorySetCount: z.int().min(0).meta({ description: 'Ledger entries of operation SET.' }),
  orderActivityCount: z.int().min(0),
  orderUpdateCount: z.int().min(0).meta({ description: 'Orders with a changed fulfillment.' }),
})

/** Which of the messages an object is meant to be. */
export function messageSchemaFor(message: object): z.ZodType {
  if ('orderUpdate' in message) return orderUpdateMessage
  if ('rejectionReason' in message && message.rejectionReason !== null) return rejectionMessage
  if ('warehouseOrderId' in message || 'cancellationReason' in message) return cancellationMessage
  return orderUpdateMessage
}
