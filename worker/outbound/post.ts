import type { Agent, Dispatcher } from 'undici'
import { wasOnUsedConnection } from './agent.ts'
import { networkErrorText } from './network_error.ts'

export interface OutboundRequest {
  url: string
  headers: Record<string, string>
  body: string
}

export interface PostLimits {
  /** For all of it: connecting, sending and reading the answer. */
  milliseconds: number
  /** How much of an answer is read. */
  answerBytes: number
  /** Ends the request early: the process is stopping. */
  signal?: AbortSignal
}

/** What came of a request. An answer that broke off has both a status and a network error. */
export interface Outcome {
  status: number | null
  networkError: string | null
  answer: string
  /** Of the answer; null when there was none. */
  headers: Record<string, string> | null
}

const ATTEMPTS_ON_USED_CONNECTIONS = 3

export const isSuccess = ({ status }: Outcome): boolean => status !== null && status >= 200 && status <= 399

const readAnswer = async (
  body: Dispatcher.ResponseData['body'],
  most: number,
): Promise<{ text: string; problem: unknown }> => {
  const chunks: Buffer[] = []
  let size = 0
  let problem: unknown
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      chunks.push(chunk)
      size += chunk.length
      if (size >= most) break
    }
  } catch (error) {
    problem = error
  }
  const bytes = Buffer.concat(chunks).subarray(0, most)
  // stream: a character that is cut in half at the end is left out.
  const text = new TextDecoder().decode(bytes, { stream: true }).replaceAll('\0', '\ufffd')
  return { text, problem }
}

const plainHeaders = (headers: Dispatcher.ResponseData['headers']): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, Array.isArray(value) ? value.join(', ') : value]],
    ),
  )

const request = async (
  agent: Agent,
  wanted: OutboundRequest,
  signal: AbortSignal,
): Promise<Dispatcher.ResponseData> => {
  const { origin, pathname, search } = new URL(wanted.url)
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await agent.request({
        origin,
        path: `${pathname}${search}`,
        method: 'POST',
        headers: wanted.headers,
        body: wanted.body,
        signal,
      })
    } catch (error) {
      const mayBeRepeated = error instanceof Error && wasOnUsedConnection(error) && !signal.aborted
      if (!mayBeRepeated || attempt === ATTEMPTS_ON_USED_CONNECTIONS) throw error
    }
  }
}

/**
 * Posts once. Redirects are not followed. A request that met a kept connection as its other side closed it is made again: it
 * carries an Idempotency-Key. Throws only when `signal` ends it.
 */
export async function post(agent: Agent, wanted: OutboundRequest, limits: PostLimits): Promise<Outcome> {
  const timeLimit = AbortSignal.timeout(limits.milliseconds)
  const signal = limits.signal === undefined ? timeLimit : AbortSignal.any([timeLimit, limits.signal])
  const explain = (error: unknown): string => {
    limits.signal?.throwIfAborted()
    return timeLimit.aborted ? `no complete answer within ${limits.milliseconds / 1_000} s` : networkErrorText(error)
  }
  try {
    const response = await request(agent, wanted, signal)
    const { text, problem } = await readAnswer(response.body, limits.answerBytes)
    return {
      status: response.statusCode,
      networkError: problem === undefined ? null : explain(problem),
      answer: text,
      headers: plainHeaders(response.headers),
    }
  } catch (error) {
    return { status: null, networkError: explain(error), answer: '', headers: null }
  }
}
