import { createHash } from 'node:crypto'
import type { Context } from 'hono'
import { deleteCookie, getCookie, setCookie } from 'hono/cookie'

const SECONDS = 7 * 24 * 60 * 60

export interface SessionCookie {
  read(context: Context): string | undefined
  write(context: Context, session: string): void
  clear(context: Context): void
}

/**
 * Lax and not Strict: the link is opened from elsewhere, and the page that it leads to must get the cookie. Its name tells
 * installations apart, since cookies are the same for all ports of a host.
 */
export function makeSessionCookie(publicUrl: string, base: string): SessionCookie {
  const secure = new URL(publicUrl).protocol === 'https:'
  const installation = createHash('sha256').update(publicUrl).digest('hex').slice(0, 8)
  const name = `${secure ? '__Secure-' : ''}lading_portal_${installation}`
  const options = { path: base, httpOnly: true, sameSite: 'Lax', secure } as const
  return {
    read: (context) => getCookie(context, name),
    write: (context, session) => setCookie(context, name, session, { ...options, maxAge: SECONDS }),
    clear: (context) => {
      deleteCookie(context, name, options)
    },
  }
}
