import { html } from 'hono/html'
import { filterFields, type ReadFilter, readFilter } from '../forms/delivery_filter.ts'
import { isId } from '../forms/ids.ts'
import type { Html } from '../html.ts'
import { deliveriesTable } from '../parts/deliveries_table.ts'
import { choices, input } from '../parts/form.ts'
import { configurationName, empty, stateName } from '../parts/showing.ts'
import { type Action, type Choice, readActions, readConfigurationChoices } from '../queries/configurations.ts'
import { type ListedDelivery, readDeliveries, states } from '../queries/deliveries.ts'
import type { Handler, Visit } from '../visit.ts'

const PAGE = 25

const filterForm = (
  visit: Visit,
  { given, errors, isActive }: ReadFilter,
  configurations: readonly Choice[],
  actions: readonly Action[],
): Html => html`<form class="filter" method="get" action="${visit.base}/deliveries" novalidate role="search" aria-label="Deliveries">
  ${choices(
    {
      id: 'configuration',
      label: 'Configuration',
      chosen: given.configuration,
      none: 'All',
      error: errors.configuration,
    },
    configurations.map((configuration) => ({ value: configuration.id, text: configurationName(configuration) })),
  )}
  ${choices(
    { id: 'action', label: 'Action', chosen: given.action, none: 'All', error: errors.action },
    actions.map(({ action }) => ({ value: action, text: action })),
  )}
  ${choices(
    { id: 'state', label: 'State', chosen: given.state, none: 'All', error: errors.state },
    states.map((state) => ({ value: state, text: stateName(state) })),
  )}
  ${input({ id: 'object', label: 'Object id', type: 'text', value: given.object, error: errors.object, autocomplete: 'off', isCode: true })}
  ${input({ id: 'since', label: 'Fired since', type: 'datetime-local', value: given.since, error: errors.since })}
  ${input({ id: 'until', label: 'Fired until', type: 'datetime-local', value: given.until, error: errors.until })}
  <div class="actions"><button>Filter</button>${isActive ? html`<a class="button quiet" href="${visit.base}/deliveries">Clear</a>` : ''}</div>
</form>`

interface Found {
  deliveries: ListedDelivery[]
  /** The query strings of the neighbouring pages. */
  newer?: string
  older?: string
}

async function find(visit: Visit, { given, filter }: ReadFilter): Promise<Found> {
  const before = visit.query.get('before')
  const after = visit.query.get('after')
  const isBack = isId(after) && !isId(before)
  const rows = await readDeliveries(visit.sql, filter, {
    before: isId(before) ? before : null,
    after: isBack ? after : null,
    most: PAGE + 1,
  })
  const hasMore = rows.length > PAGE
  const deliveries = isBack ? rows.slice(-PAGE) : rows.slice(0, PAGE)
  const first = deliveries[0]
  const last = deliveries.at(-1)
  const at = (direction: 'before' | 'after', id: string): string => {
    const query = new URLSearchParams()
    for (const name of filterFields) if (given[name] !== '') query.set(name, given[name])
    query.set(direction, id)
    return query.toString()
  }
  return {
    deliveries,
    ...(first !== undefined && (isBack ? hasMore : isId(before)) ? { newer: at('after', first.id) } : {}),
    ...(last !== undefined && (isBack || hasMore) ? { older: at('before', last.id) } : {}),
  }
}

const pager = (visit: Visit, { newer, older }: Found): Html =>
  newer === undefined && older === undefined
    ? html``
    : html`<nav class="pager" aria-label="Pages">
  ${newer === undefined ? html`<span></span>` : html`<a class="button quiet" rel="prev" href="${visit.base}/deliveries?${newer}">← Newer</a>`}
  ${older === undefined ? html`<span></span>` : html`<a class="button quiet" rel="next" href="${visit.base}/deliveries?${older}">Older →</a>`}
</nav>`

const nothingFound = (visit: Visit, { isActive }: ReadFilter): Html =>
  isActive
    ? empty('No delivery fits the filter.', html`<p><a href="${visit.base}/deliveries">Show all deliveries</a></p>`)
    : empty(
        'There are no deliveries yet.',
        html`<p>They are listed here as soon as events fire, and kept for a time.</p>`,
      )

export const deliveries: Handler = async (visit) => {
  const configurations = await readConfigurationChoices(visit.sql)
  const actions = await readActions(visit.sql)
  const filter = readFilter(
    visit.query,
    visit.business.zone,
    actions.map(({ action }) => action),
  )
  const isWrong = Object.keys(filter.errors).length > 0
  const found: Found = isWrong ? { deliveries: [] } : await find(visit, filter)
  return {
    status: isWrong ? 422 : 200,
    title: isWrong ? 'Error: Deliveries' : 'Deliveries',
    section: 'deliveries',
    main: html`<h1>Deliveries</h1>
${filterForm(visit, filter, configurations, actions)}
${
  isWrong
    ? ''
    : found.deliveries.length === 0
      ? nothingFound(visit, filter)
      : deliveriesTable(visit, 'Deliveries, newest first', found.deliveries)
}
${pager(visit, found)}`,
  }
}
