import { createHmac, timingSafeEqual } from 'node:crypto'

export const FORM_TOKEN = 'form_token'

/** Follows from the session and does not give it away: only a page of this session can know it. */
export const formToken = (session: string): string =>
  createHmac('sha256', session).update('forms of the portal').digest('base64url')

export const isFormTokenOf = (session: string, given: string | null): boolean => {
  const expected = Buffer.from(formToken(session))
  const received = Buffer.from(given ?? '')
  return expected.length === received.length && timingSafeEqual(expected, received)
}

/** Whether the browser says that a page of ours sent the form. Sec-Fetch-Site is not sent over plain http, Origin is. */
export const isFromOurselves = (headers: Headers, publicUrl: string): boolean => {
  const site = headers.get('sec-fetch-site')
  if (site !== null) return site === 'same-origin'
  const origin = headers.get('origin')
  if (origin === null || !URL.canParse(origin)) return false
  return origin === new URL(publicUrl).origin || new URL(origin).host === headers.get('host')
}
