import { z } from 'zod'
import { StackError } from '../stack/stack_error.ts'

export interface Answer {
  status: number
  text: string
}

export type Send = (method: 'GET' | 'POST' | 'PATCH', url: string, body?: unknown) => Promise<Answer>

/** Requests with the two keys that every call carries. */
export const sender =
  (applicationKey: string, key: string, deadline: AbortSignal): Send =>
  async (method, url, body) => {
    try {
      const response = await fetch(url, {
        method,
        signal: deadline,
        headers: {
          apikey: applicationKey,
          Authorization: `Bearer ${key}`,
          'Content-Type': 'application/json',
          Prefer: 'return=representation',
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      return { status: response.status, text: await response.text() }
    } catch (error) {
      deadline.throwIfAborted()
      throw new StackError(`Lading does not answer at ${new URL(url).origin}. Is npm start running?`, { cause: error })
    }
  }

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** The body of an answer with the expected status and shape; any other ends the demo. */
export function read<Shape>(what: string, { status, text }: Answer, expected: number, shape: z.ZodType<Shape>): Shape {
  if (status !== expected) throw new StackError(`${what} answered ${status} instead of ${expected}: ${text}`)
  const { data, error } = shape.safeParse(parseJson(text))
  if (error) throw new StackError(`${what} answered something unexpected: ${text}\n${z.prettifyError(error)}`)
  return data as Shape
}
