import { expect } from 'vitest'
import type { Lading } from '../harness/lading.ts'

export interface UpdateResult {
  inventoryAdjustmentCount: number
  inventorySetCount: number
  orderActivityCount: number
  orderUpdateCount: number
}

export interface CallbackAnswer {
  status: number
  /** The body as it came; '' for none. */
  text: string
  updateResult: UpdateResult | undefined
}

export interface PostedLine {
  id?: string
  sku?: string
  quantity: number
  [field: string]: unknown
}

export interface PostedFulfillment {
  locationId: string
  status: string
  lineItems: PostedLine[]
  [field: string]: unknown
}

export interface CallbackOptions {
  /** API key; that of business A's warehouse unless given, none for null. */
  key?: string | null
  headers?: Record<string, string>
}

/** Posts a message of a warehouse to the callback address of a step. A string is sent as it is. */
export const postCallback = async (
  lading: Lading,
  step: string,
  message: unknown,
  { key = lading.a.warehouseKey, headers = {} }: CallbackOptions = {},
): Promise<CallbackAnswer> => {
  const response = await fetch(`${lading.baseUrl}/v1/suppliers/${step}/callbacks`, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      apikey: lading.applicationKey,
      ...(key === null ? {} : { Authorization: `Bearer ${key}` }),
      ...headers,
    },
    body: typeof message === 'string' ? message : JSON.stringify(message),
  })
  const text = await response.text()
  return {
    status: response.status,
    text,
    updateResult:
      response.status === 200 ? (JSON.parse(text) as { updateResult: UpdateResult }).updateResult : undefined,
  }
}

/** The counts of a message that was applied. */
export const applied = (answer: CallbackAnswer): UpdateResult => {
  expect(answer).toMatchObject({ status: 200 })
  return answer.updateResult as UpdateResult
}

/** A refusal: 400 with one line of text that holds `reason`. */
export const expectRefused = (answer: CallbackAnswer, reason: string): void => {
  expect(answer).toMatchObject({ status: 400, text: expect.stringContaining(reason) })
  expect(answer.text).not.toContain('\n')
}

export const expectNothingNew = (answer: CallbackAnswer): void => {
  expect(answer).toEqual({ status: 204, text: '', updateResult: undefined })
}
