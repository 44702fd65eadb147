import { z } from 'zod'

export const aboutFulfillment = z.object({ fulfillment_id: z.uuid() })
export const aboutRecord = z.object({ id: z.uuid() })
export const aboutConfiguration = z.object({ webhook_configuration_id: z.uuid() })
export const aboutTransaction = z.object({ transaction_id: z.string().regex(/^\d+$/).optional() })
