import { z } from 'zod'

export const aboutFulfillment = z.object({ fulfillment_id: z.uuid() })
export const aboutRecord = z.object({ id: z.uuid() })
