import { html } from 'hono/html'
import {
  type ReadReplay,
  type Replay,
  type ReplayKind,
  readConfirmedReplay,
  readReplayForm,
  replayKinds,
} from '../forms/replay_form.ts'
import type { Html } from '../html.ts'
import { countOf } from '../numbers.ts'
import { choices, errorSummary, formTokenField, input } from '../parts/form.ts'
import { configurationName, empty, tellTime } from '../parts/showing.ts'
import { type Choice, readConfigurationChoices } from '../queries/configurations.ts'
import { PortalRefusal } from '../refusal.ts'
import type { Handler, Visit } from '../visit.ts'

const kindTexts: Record<ReplayKind, string> = {
  failed: 'Failed: nothing got through',
  missing: 'Missing: never sent',
  all: 'All: also what succeeded',
}

const kindNames: Record<ReplayKind, [one: string, several: string]> = {
  failed: ['failed event', 'failed events'],
  missing: ['missing event', 'missing events'],
  all: ['event', 'events'],
}

async function callReplay(visit: Visit, replay: Replay, isDryRun: boolean): Promise<number> {
  const [answer] = await visit.sql<{ count: number }[]>`
    select (api.replay_webhook_deliveries(
      webhook_configuration_id => ${replay.configuration}, since => ${replay.since}, until => ${replay.until},
      "only" => ${replay.only}, dry_run => ${isDryRun}
    ) ->> 'count')::integer as count`
  return answer?.count ?? 0
}

const replayForm = (
  visit: Visit,
  { given, errors }: ReadReplay,
  configurations: readonly Choice[],
): Html => html`<form class="stack" method="get" action="${visit.base}/replay" novalidate>
  ${choices(
    { id: 'configuration', label: 'Configuration', chosen: given.configuration, error: errors.configuration },
    configurations.map((configuration) => ({ value: configuration.id, text: configurationName(configuration) })),
  )}
  ${choices(
    { id: 'only', label: 'Which events', chosen: given.only },
    replayKinds.map((kind) => ({ value: kind, text: kindTexts[kind] })),
  )}
  <div class="pair">
    ${input({ id: 'since', label: 'Happened since', type: 'datetime-local', value: given.since, error: errors.since, isRequired: true })}
    ${input({ id: 'until', label: 'Until (empty: now)', type: 'datetime-local', value: given.until, error: errors.until })}
  </div>
  <div class="actions"><button name="step" value="count">Count</button></div>
</form>`

const confirmation = (visit: Visit, replay: Replay, count: number): Html => {
  const [one, several] = kindNames[replay.only]
  return html`<section class="card" aria-labelledby="counted" id="count">
  <h2 id="counted">${countOf(count, one, several)}</h2>
  <p class="calm">From ${tellTime(visit, replay.since)} until ${tellTime(visit, replay.until)}.</p>
  ${
    count === 0
      ? html`<p>There is nothing to replay.</p>`
      : html`<p>Each is delivered again with the same body and webhook-id, so that a consumer can tell that it had it before.</p>
  <form method="post" action="${visit.base}/replay">
    ${formTokenField(visit)}
    <input type="hidden" name="configuration" value="${replay.configuration}">
    <input type="hidden" name="only" value="${replay.only}">
    <input type="hidden" name="since" value="${replay.since.toISOString()}">
    <input type="hidden" name="until" value="${replay.until.toISOString()}">
    <button class="strong">Replay ${countOf(count, 'event')}</button>
  </form>`
  }
</section>`
}

export const replay: Handler = async (visit) => {
  const configurations = (await readConfigurationChoices(visit.sql)).filter(({ is_enabled }) => is_enabled)
  const read = readReplayForm(visit)
  const isAsked = visit.query.get('step') === 'count'
  if (!isAsked) read.errors = {}
  const isWrong = isAsked && read.replay === undefined
  const count = isAsked && read.replay !== undefined ? await callReplay(visit, read.replay, true) : undefined
  return {
    status: isWrong ? 422 : 200,
    title: isWrong ? 'Error: Replay' : 'Replay',
    section: 'replay',
    main: html`<h1>Replay</h1>
<p class="calm">Sends past events to a configuration again, for example after its consumer was down.</p>
${
  configurations.length === 0
    ? empty(
        'There is no enabled configuration to send events to.',
        html`<p><a href="${visit.base}">Go to the overview</a></p>`,
      )
    : html`${errorSummary(
        (['configuration', 'since', 'until'] as const).flatMap((id) =>
          read.errors[id] === undefined ? [] : [{ id, message: read.errors[id] }],
        ),
      )}${replayForm(visit, read, configurations)}`
}
${count === undefined || read.replay === undefined ? '' : confirmation(visit, read.replay, count)}`,
  }
}

export const confirmReplay: Handler = async (visit) => {
  const confirmed = readConfirmedReplay(visit.form)
  if (confirmed === undefined) throw new PortalRefusal(400, 'Count the events first, then confirm.')
  const count = await callReplay(visit, confirmed, false)
  return { to: `/replay?configuration=${confirmed.configuration}&notice=replayed&count=${count}` }
}
