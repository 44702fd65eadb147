import { countOf } from './numbers.ts'

const notices = {
  added: 'The configuration was added. Reveal its secret below to verify what it receives.',
  saved: 'The configuration was saved.',
  enabled: 'The configuration is enabled.',
  disabled: 'The configuration is disabled: nothing is delivered to it any more.',
  tested: 'A test event is on its way. It appears below in a moment.',
  rotated: 'There is a new secret. The former one signs too for 24 hours, so that you can change over.',
  replayed: 'The event is on its way again, as a new delivery listed below.',
} as const

/** Addresses carry the name of a notice, never its text. */
export function noticeOf(query: URLSearchParams): string | undefined {
  const name = query.get('notice') ?? ''
  const count = query.get('count') ?? ''
  if (name === 'replayed' && /^\d{1,9}$/.test(count)) {
    return Number(count) === 0
      ? 'There was nothing left to replay.'
      : `${countOf(Number(count), 'event is', 'events are')} on the way again.`
  }
  return Object.hasOwn(notices, name) ? notices[name as keyof typeof notices] : undefined
}
