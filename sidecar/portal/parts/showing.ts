import { html } from 'hono/html'
import type { Html } from '../html.ts'
import type { State } from '../queries/deliveries.ts'
import { longTime, relativeTime } from '../time.ts'
import type { Visit } from '../visit.ts'

/** The time in the business's zone, and how long ago it was. */
export const showTime = (visit: Visit, time: Date): Html =>
  html`<span class="time"><time datetime="${time.toISOString()}">${longTime(time, visit.business.zone)}</time> <span class="relative" data-time="${time.toISOString()}">${relativeTime(time, visit.now)}</span></span>`

/** The same within a sentence. */
export const tellTime = (visit: Visit, time: Date): Html =>
  html`<time datetime="${time.toISOString()}">${longTime(time, visit.business.zone)}</time> (<span class="relative" data-time="${time.toISOString()}">${relativeTime(time, visit.now)}</span>)`

interface Progress {
  state: State
  attempt_count: number
}

const stateNames: Record<State, string> = {
  pending: 'Waiting',
  sending: 'Sending',
  delivered: 'Delivered',
  failed: 'Failed',
  canceled: 'Canceled',
}

export const stateName = (state: State): string => stateNames[state]

const isRetrying = ({ state, attempt_count }: Progress) => state === 'pending' && attempt_count > 0

const marks: Record<State | 'retrying', string> = {
  pending: '○',
  sending: '▸',
  delivered: '✓',
  failed: '✕',
  canceled: '–',
  retrying: '↻',
}

export const stateBadge = (delivery: Progress): Html => {
  const kind = isRetrying(delivery) ? 'retrying' : delivery.state
  return html`<span class="badge ${kind}"><span class="mark" aria-hidden="true">${marks[kind]}</span>${
    kind === 'retrying' ? 'Retrying' : stateNames[delivery.state]
  }</span>`
}

export const tag = (text: string): Html => html`<span class="tag">${text}</span>`

/** The last part of an id tells one from another; the whole is there for those who point at it, and to be copied. */
export const shortId = (id: string): Html => html`<span class="code" title="${id}">…${id.slice(-12)}</span>`

export const configurationName = (configuration: { name: string | null; hook_consumer_url: string }): string =>
  configuration.name ?? configuration.hook_consumer_url

/** Text to be copied; the button is there when scripts run. */
export const codeBlock = (id: string, label: string, content: string): Html =>
  html`<div class="block">
  <button type="button" class="quiet copy" data-copies="${id}" hidden>Copy<span class="unseen"> ${label}</span></button>
  <pre id="${id}" tabindex="0" role="region" aria-label="${label}"><code>${content}</code></pre>
</div>`

export const empty = (title: string, text: Html): Html =>
  html`<div class="empty"><p><strong>${title}</strong></p>${text}</div>`
