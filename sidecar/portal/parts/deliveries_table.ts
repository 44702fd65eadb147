import { html } from 'hono/html'
import type { Html } from '../html.ts'
import { showDuration } from '../numbers.ts'
import type { ListedDelivery } from '../queries/deliveries.ts'
import type { Visit } from '../visit.ts'
import { configurationName, shortId, showTime, stateBadge, tag } from './showing.ts'
import { table } from './table.ts'

const event = (visit: Visit, delivery: ListedDelivery): Html =>
  html`<a href="${visit.base}/deliveries/${delivery.id}">${delivery.action}</a>${delivery.is_test ? html` ${tag('Test')}` : ''}${
    delivery.replay_of === null ? '' : html` ${tag('Replay')}`
  }`

const outcome = (delivery: ListedDelivery): Html =>
  html`${stateBadge(delivery)}${delivery.response_status === null ? '' : html` <span class="code">${delivery.response_status}</span>`}`

export const deliveriesTable = (
  visit: Visit,
  caption: string,
  deliveries: readonly ListedDelivery[],
  { withConfiguration = true } = {},
): Html =>
  table(
    caption,
    [
      { name: 'Event', kind: 'lead' },
      { name: 'State' },
      ...(withConfiguration ? [{ name: 'Configuration', kind: 'clip' } as const] : []),
      { name: 'Object' },
      { name: 'Attempts', kind: 'number' },
      { name: 'Duration', kind: 'number' },
      { name: 'Fired' },
    ],
    deliveries.map((delivery) => [
      event(visit, delivery),
      outcome(delivery),
      ...(withConfiguration
        ? [configurationName({ name: delivery.configuration_name, hook_consumer_url: delivery.hook_consumer_url })]
        : []),
      html`<a href="${visit.base}/deliveries?object=${delivery.object_id}">${shortId(delivery.object_id)}</a>`,
      delivery.attempt_count,
      delivery.duration_ms === null ? '–' : showDuration(delivery.duration_ms),
      showTime(visit, delivery.creation_time),
    ]),
  )
