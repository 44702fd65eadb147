import type { IncomingMessage } from 'node:http'
import type { Refusal } from '../stack/database_refusal.ts'
import { problemOf, wording } from './callback_problem.ts'
import { messageSchemaFor } from './callback_schema.ts'
import { findUnstorable } from './callback_text.ts'
import { declaredLength } from './gateway.ts'

export type ReadMessage = { text: string } | { refusal: Refusal }

const refused = (status: number, message: string): ReadMessage => ({ refusal: { status, message } })

export function readBody(request: IncomingMessage, limit: number): Promise<Buffer | 'too large' | 'cut off'> {
  if (declaredLength(request) > limit) return Promise.resolve('too large')
  return new Promise((resolve) => {
    const chunks: Buffer[] = []
    let size = 0
    const settle = (outcome: Buffer | 'too large' | 'cut off') => {
      request.off('data', onData).off('end', onEnd).off('close', onClose)
      resolve(outcome)
    }
    const onData = (chunk: Buffer) => {
      size += chunk.length
      if (size > limit) settle('too large')
      else chunks.push(chunk)
    }
    const onEnd = () => settle(Buffer.concat(chunks))
    const onClose = () => settle('cut off')
    request
      .on('data', onData)
      .on('end', onEnd)
      .on('close', onClose)
      .on('error', () => undefined)
  })
}

const jsonType = /^application\/(?:[\w.-]+\+)?json\s*(?:;\s*charset\s*=\s*"?utf-?8"?\s*)?;?\s*$/i
const unicode = new TextDecoder('utf-8', { fatal: true })

const decode = (body: Buffer): string | undefined => {
  try {
    return unicode.decode(body)
  } catch {
    return undefined
  }
}

const parse = (text: string): { value: unknown } | { problem: string } => {
  try {
    return { value: JSON.parse(text) as unknown }
  } catch (error) {
    return { problem: error instanceof Error ? error.message.replace(/\s+/g, ' ') : 'it cannot be read' }
  }
}

/** The message as it was sent once it has been found right: numbers keep all their digits. */
export function readMessage(headers: IncomingMessage['headers'], body: Buffer): ReadMessage {
  if (!jsonType.test(headers['content-type'] ?? '')) {
    return refused(415, 'Header Content-Type: must be application/json')
  }
  if ((headers['content-encoding'] ?? 'identity') !== 'identity') {
    return refused(415, 'Header Content-Encoding: a compressed body is not supported')
  }
  const text = decode(body)
  if (text === undefined) return refused(400, 'The body is not valid UTF-8')
  const parsed = parse(text)
  if ('problem' in parsed) return refused(400, `The body is not JSON: ${parsed.problem}`)
  const { value } = parsed
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return refused(400, 'The body must be a JSON object')
  }
  const unstorable = findUnstorable(value)
  if (unstorable !== undefined) return refused(400, unstorable)
  const checked = messageSchemaFor(value).safeParse(value, { error: wording })
  return checked.success ? { text } : refused(400, problemOf(checked.error))
}
