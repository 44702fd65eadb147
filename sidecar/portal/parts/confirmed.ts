import { html } from 'hono/html'
import type { Html } from '../html.ts'

/** A button that asks again: it opens the explanation and the button that does it. */
export const confirmed = (label: string, content: Html): Html =>
  html`<details class="confirmed"><summary>${label}…</summary><div>${content}</div></details>`
