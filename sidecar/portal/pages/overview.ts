import { html } from 'hono/html'
import type { Html } from '../html.ts'
import { countOf, showCount, showDuration, showShare } from '../numbers.ts'
import { confirmed } from '../parts/confirmed.ts'
import { deliveriesTable } from '../parts/deliveries_table.ts'
import { buttonForm } from '../parts/form.ts'
import { healthBadge, healthText } from '../parts/health.ts'
import { configurationName, empty } from '../parts/showing.ts'
import { statisticsCharts } from '../parts/statistics_charts.ts'
import { type Configuration, readConfigurations } from '../queries/configurations.ts'
import { readDeliveries } from '../queries/deliveries.ts'
import { countDeliveries, readStatistics, type Statistics, successRate } from '../queries/statistics.ts'
import type { Handler, Visit } from '../visit.ts'

const periods = [1, 7, 30] as const

const periodName = (days: number): string => (days === 1 ? 'Last 24 hours' : `Last ${days} days`)

const tiles = ({ total }: Statistics): Html => {
  const rate = successRate(total)
  const tile = (name: string, value: string) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`
  return html`<dl class="tiles">
  ${tile('Deliveries', showCount(countDeliveries(total)))}
  ${tile('Success rate', rate === undefined ? '–' : showShare(rate))}
  ${tile('Failed', showCount(total.failed))}
  ${tile('Waiting', showCount(total.waiting))}
  ${tile('Latency p50', total.p50_ms === null ? '–' : showDuration(total.p50_ms))}
  ${tile('Latency p95', total.p95_ms === null ? '–' : showDuration(total.p95_ms))}
</dl>`
}

const periodLinks = (visit: Visit, chosen: number): Html => html`<nav class="periods" aria-label="Time shown">
  <ul>${periods.map(
    (days) =>
      html`<li><a href="${visit.base}?days=${days}"${days === chosen ? html` aria-current="true"` : ''}>${days === 1 ? '24 hours' : `${days} days`}</a></li>`,
  )}</ul>
</nav>`

const switching = (visit: Visit, configuration: Configuration): Html =>
  configuration.is_enabled
    ? confirmed(
        'Disable',
        html`<p>Nothing more is delivered to it. ${
          configuration.waiting === 0
            ? 'Nothing waits at the moment.'
            : `${countOf(configuration.waiting, 'delivery that waits is', 'deliveries that wait are')} canceled and can be replayed later.`
        }</p>${buttonForm(visit, `/configurations/${configuration.id}/disable`, 'Disable now')}`,
      )
    : buttonForm(visit, `/configurations/${configuration.id}/enable`, 'Enable')

const configurationCard = (visit: Visit, configuration: Configuration): Html => html`<li class="card">
  <div class="heading">
    <h3><a href="${visit.base}/configurations/${configuration.id}">${configurationName(configuration)}</a></h3>
    ${healthBadge(configuration)}
  </div>
  ${configuration.name === null ? '' : html`<p class="code address">${configuration.hook_consumer_url}</p>`}
  <p class="calm">${healthText(visit, configuration)}</p>
  ${
    configuration.subscriptions.length === 0
      ? html`<p class="calm">Subscribed to nothing yet.</p>`
      : html`<ul class="tags" aria-label="Subscribed to">${configuration.subscriptions.map(({ action }) => html`<li class="tag">${action}</li>`)}</ul>`
  }
  <div class="actions">
    <a class="button quiet" href="${visit.base}/configurations/${configuration.id}">Edit<span class="unseen"> ${configurationName(configuration)}</span></a>
    <a class="button quiet" href="${visit.base}/deliveries?configuration=${configuration.id}">Deliveries<span class="unseen"> of ${configurationName(configuration)}</span></a>
    ${switching(visit, configuration)}
  </div>
</li>`

export const overview: Handler = async (visit) => {
  const days = periods.find((period) => String(period) === visit.query.get('days')) ?? 1
  const statistics = await readStatistics(visit.sql, days, visit.now)
  const configurations = await readConfigurations(visit.sql)
  const latest = await readDeliveries(visit.sql, {}, { most: 5 })
  const add = html`<a class="button" href="${visit.base}/configurations/new">Add a configuration</a>`

  return {
    title: 'Overview',
    section: 'overview',
    main: html`<h1>Overview</h1>
<section aria-labelledby="figures">
  <div class="heading"><h2 id="figures">${periodName(days)}</h2>${periodLinks(visit, days)}</div>
  ${tiles(statistics)}
  ${
    countDeliveries(statistics.total) === 0
      ? empty('Nothing was delivered in this time.', html`<p>Pictures appear here as soon as events fire.</p>`)
      : statisticsCharts(visit, statistics, days)
  }
</section>
<section aria-labelledby="configurations">
  <div class="heading"><h2 id="configurations">Configurations</h2>${configurations.length === 0 ? '' : add}</div>
  ${
    configurations.length === 0
      ? empty(
          'No events are sent anywhere yet.',
          html`<p>A configuration says to which address events go, and which ones.</p><p>${add}</p>`,
        )
      : html`<ul class="cards">${configurations.map((configuration) => configurationCard(visit, configuration))}</ul>`
  }
</section>
<section aria-labelledby="latest">
  <div class="heading"><h2 id="latest">Latest deliveries</h2>${latest.length === 0 ? '' : html`<a href="${visit.base}/deliveries">All deliveries</a>`}</div>
  ${
    latest.length === 0
      ? empty(
          'There are no deliveries yet.',
          html`<p>They are listed here, each with what was sent and what came back.</p>`,
        )
      : deliveriesTable(visit, 'Latest deliveries', latest)
  }
</section>`,
  }
}
