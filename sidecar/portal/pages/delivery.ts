import { html } from 'hono/html'
import { curlCommand } from '../curl.ts'
import { idOf } from '../forms/ids.ts'
import type { Html } from '../html.ts'
import { maskedHeaders } from '../masked_headers.ts'
import { showBytes, showDuration } from '../numbers.ts'
import { buttonForm } from '../parts/form.ts'
import { codeBlock, configurationName, empty, showTime, stateBadge, tag } from '../parts/showing.ts'
import { readConfigurations } from '../queries/configurations.ts'
import { type Attempt, type Delivery, readAttempts, readDelivery, readReplaysOf } from '../queries/deliveries.ts'
import { readSecret } from '../queries/secret.ts'
import { notFound } from '../refusal.ts'
import type { Handler, Visit } from '../visit.ts'

/** May break between its words. */
const breakable = (action: string): Html[] => action.split(/(?<=[._])/).map((word) => html`${word}<wbr>`)

const fact = (name: string, value: unknown): Html => html`<div><dt>${name}</dt><dd>${value}</dd></div>`

const facts = (visit: Visit, delivery: Delivery, isEnabled: boolean): Html => html`<dl class="facts">
  ${fact('Configuration', html`<a href="${visit.base}/configurations/${delivery.webhook_configuration_id}">${configurationName({ name: delivery.configuration_name, hook_consumer_url: delivery.hook_consumer_url })}</a>${isEnabled ? '' : tag('Disabled')}`)}
  ${fact('Object', html`<a class="code" href="${visit.base}/deliveries?object=${delivery.object_id}">${delivery.object_id}</a>`)}
  ${fact('Event (webhook-id)', html`<span class="code">${delivery.event_id}</span>`)}
  ${fact('Sequence', delivery.sequence)}
  ${fact('Happened', showTime(visit, delivery.event_time))}
  ${fact('Fired', showTime(visit, delivery.creation_time))}
  ${delivery.ended_time === null ? '' : fact('Ended', showTime(visit, delivery.ended_time))}
  ${fact('Attempts', delivery.attempt_count)}
  ${delivery.next_attempt_time === null || delivery.state !== 'pending' ? '' : fact('Next attempt', showTime(visit, delivery.next_attempt_time))}
  ${fact('Size', showBytes(delivery.payload_bytes))}
  ${delivery.error === null ? '' : fact('Last error', delivery.error)}
  ${delivery.replay_of === null ? '' : fact('Replay of', html`<a class="code" href="${visit.base}/deliveries/${delivery.replay_of}">${delivery.replay_of}</a>`)}
</dl>`

const headersTable = (label: string, headers: Record<string, unknown>): Html => {
  const entries = maskedHeaders(headers)
  return entries.length === 0
    ? html`<p class="calm">None were recorded.</p>`
    : html`<dl class="headers" aria-label="${label}">${entries.map(
        ([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`,
      )}</dl>`
}

const pretty = (text: string): string => {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}

const wasAnswered = ({ response_status: status }: Attempt) => status !== null && status >= 200 && status < 300

const attemptDetails = (visit: Visit, attempt: Attempt, isOpen: boolean): Html => {
  const number = attempt.attempt_number
  return html`<li><details class="attempt"${isOpen ? html` open` : ''}>
  <summary>
    <span class="badge ${wasAnswered(attempt) ? 'delivered' : 'failed'}"><span class="mark" aria-hidden="true">${wasAnswered(attempt) ? '✓' : '✕'}</span>${attempt.response_status ?? 'No answer'}</span>
    <strong>Attempt ${number}</strong>
    <span class="calm">${showDuration(attempt.duration_ms)}</span>
    ${showTime(visit, attempt.attempt_time)}
  </summary>
  ${attempt.error === null ? '' : html`<p class="error">${attempt.error}</p>`}
  <div class="exchange">
    <section aria-labelledby="request-${number}">
      <h3 id="request-${number}">Request<span class="unseen"> of attempt ${number}</span></h3>
      <p class="code address">POST ${attempt.request_url}</p>
      ${headersTable(`Headers of request ${number}`, attempt.request_headers)}
    </section>
    <section aria-labelledby="response-${number}">
      <h3 id="response-${number}">Response<span class="unseen"> to attempt ${number}</span></h3>
      ${
        attempt.response_status === null
          ? html`<p class="calm">No answer came.</p>`
          : html`<p class="code">Status ${attempt.response_status}</p>
        ${attempt.response_headers === null ? '' : headersTable(`Headers of response ${number}`, attempt.response_headers)}
        ${
          attempt.response_body === null || attempt.response_body === ''
            ? html`<p class="calm">The answer had no body.</p>`
            : codeBlock(`response-body-${number}`, `Body of response ${number}`, pretty(attempt.response_body))
        }`
      }
    </section>
  </div>
</details></li>`
}

const body = (delivery: Delivery, curl: string | undefined): Html =>
  delivery.pretty_body === null
    ? empty(
        'The body is over 300 kB and not kept in the log.',
        html`<p>It went straight to <span class="code">${delivery.hook_consumer_url}</span>. A replay makes it again.</p>`,
      )
    : html`${codeBlock('body', 'JSON of the body', delivery.pretty_body)}
${
  curl === undefined
    ? ''
    : html`<details class="figures"><summary>As a curl command</summary>
  <p class="calm">Sends the same body, signed just now: consumers accept the signature for five minutes.</p>
  ${codeBlock('curl', 'curl command', curl)}
</details>`
}`

export const delivery: Handler = async (visit) => {
  const id = idOf(visit, 'delivery')
  const found = await readDelivery(visit.sql, id)
  if (found === undefined) throw notFound('delivery')
  const [configuration] = await readConfigurations(visit.sql, found.webhook_configuration_id)
  const attempts = await readAttempts(visit.sql, id)
  const replays = await readReplaysOf(visit.sql, id)
  const isEnabled = configuration?.is_enabled === true
  const curl =
    found.body === null
      ? undefined
      : curlCommand({
          url: found.hook_consumer_url,
          eventId: found.event_id,
          body: found.body,
          secret: await readSecret(visit.sql, found.webhook_configuration_id),
          now: visit.now,
        })
  return {
    title: `${found.action} delivery`,
    section: 'deliveries',
    main: html`<p class="back"><a href="${visit.base}/deliveries">← Deliveries</a></p>
<div class="heading">
  <h1>${breakable(found.action)} ${stateBadge(found)}${found.is_test ? tag('Test') : ''}${found.replay_of === null ? '' : tag('Replay')}</h1>
  ${isEnabled ? buttonForm(visit, `/deliveries/${id}/replay`, 'Replay') : html`<p class="calm">To replay it, enable its configuration.</p>`}
</div>
${facts(visit, found, isEnabled)}
${
  replays.length === 0
    ? ''
    : html`<section aria-labelledby="replays">
  <h2 id="replays">Replays</h2>
  <ul class="rows">${replays.map(
    (replay) =>
      html`<li><a href="${visit.base}/deliveries/${replay.id}">${showTime(visit, replay.creation_time)}</a> ${stateBadge(replay)}</li>`,
  )}</ul>
</section>`
}
<section aria-labelledby="attempts">
  <h2 id="attempts">Attempts</h2>
  ${
    attempts.length === 0
      ? empty('No attempt was made yet.', html`<p>The first is due as soon as a worker is free.</p>`)
      : html`<ol class="attempts">${attempts.map((attempt, index) => attemptDetails(visit, attempt, index === 0))}</ol>`
  }
</section>
<section aria-labelledby="sent">
  <h2 id="sent">Body</h2>
  ${body(found, curl)}
</section>`,
  }
}

export const replayDelivery: Handler = async (visit) => {
  const id = idOf(visit, 'delivery')
  await visit.sql`select api.replay_webhook_delivery(${id})`
  return { to: `/deliveries/${id}?notice=replayed` }
}
