import type { MiddlewareHandler } from 'hono'

const contentSecurityPolicy = [
  "default-src 'none'",
  "style-src 'self'",
  "script-src 'self'",
  "img-src 'self' data:",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join('; ')

/** `Referrer-Policy: same-origin` lets forms tell their origin; the page that takes the link's token says no-referrer. */
export const securityHeaders: MiddlewareHandler = async (context, next) => {
  await next()
  const { headers } = context.res
  headers.set('Content-Security-Policy', contentSecurityPolicy)
  headers.set('X-Content-Type-Options', 'nosniff')
  headers.set('X-Frame-Options', 'DENY')
  headers.set('X-Robots-Tag', 'noindex, nofollow')
  headers.set('Cross-Origin-Opener-Policy', 'same-origin')
  headers.set('Cross-Origin-Resource-Policy', 'same-origin')
  headers.set('Permissions-Policy', 'camera=(), geolocation=(), microphone=(), payment=()')
  if (!headers.has('Referrer-Policy')) headers.set('Referrer-Policy', 'same-origin')
  if (!headers.has('Cache-Control')) headers.set('Cache-Control', 'no-store')
}
