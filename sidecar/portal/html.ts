import type { html } from 'hono/html'

/** Escaped HTML, as `html` makes it. */
export type Html = ReturnType<typeof html>
