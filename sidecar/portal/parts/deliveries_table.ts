import { html } from 'hono/html'
import type { Html } from '../html.ts'
import { showDuration } from '../numbers.ts'
import type { ListedDelivery } from '../queries/deliveries.ts'
import type { Visit } from '../visit.ts'
import { configurationName, shortId, showTime, stateBadge, tag } from './showing.ts'

const outcome = (delivery: ListedDelivery): Html =>
  html`${stateBadge(delivery)}${delivery.response_status === null ? '' : html` <span class="code">${delivery.response_status}</span>`}`

const row = (visit: Visit, delivery: ListedDelivery, withConfiguration: boolean): Html => html`<tr role="row">
  <td role="cell" class="lead" data-label="Event">
    <a href="${visit.base}/deliveries/${delivery.id}">${delivery.action}</a>
    ${delivery.is_test ? tag('Test') : ''}${delivery.replay_of === null ? '' : tag('Replay')}
  </td>
  <td role="cell" data-label="State">${outcome(delivery)}</td>
  ${withConfiguration ? html`<td role="cell" data-label="Configuration" class="clip">${configurationName({ name: delivery.configuration_name, hook_consumer_url: delivery.hook_consumer_url })}</td>` : ''}
  <td role="cell" data-label="Object"><a href="${visit.base}/deliveries?object=${delivery.object_id}">${shortId(delivery.object_id)}</a></td>
  <td role="cell" data-label="Attempts" class="number">${delivery.attempt_count}</td>
  <td role="cell" data-label="Duration" class="number">${delivery.duration_ms === null ? '–' : showDuration(delivery.duration_ms)}</td>
  <td role="cell" data-label="Fired">${showTime(visit, delivery.creation_time)}</td>
</tr>`

/** On a phone each row becomes a card: the roles keep it a table for those who hear it. */
export const deliveriesTable = (
  visit: Visit,
  caption: string,
  deliveries: readonly ListedDelivery[],
  { withConfiguration = true } = {},
): Html => html`<table class="reflows" role="table">
  <caption class="unseen">${caption}</caption>
  <thead role="rowgroup">
    <tr role="row">
      <th role="columnheader" scope="col">Event</th>
      <th role="columnheader" scope="col">State</th>
      ${withConfiguration ? html`<th role="columnheader" scope="col">Configuration</th>` : ''}
      <th role="columnheader" scope="col">Object</th>
      <th role="columnheader" scope="col" class="number">Attempts</th>
      <th role="columnheader" scope="col" class="number">Duration</th>
      <th role="columnheader" scope="col">Fired</th>
    </tr>
  </thead>
  <tbody role="rowgroup">${deliveries.map((delivery) => row(visit, delivery, withConfiguration))}</tbody>
</table>`
