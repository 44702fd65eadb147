import { notFound } from '../refusal.ts'
import type { Visit } from '../visit.ts'

const ID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i

export const isId = (text: string | null): text is string => text !== null && ID.test(text)

/** The id in the address of the page; 404 when it cannot be one. */
export const idOf = (visit: Visit, what: string): string => {
  const id = visit.parameter('id')
  if (!isId(id)) throw notFound(what)
  return id
}
