import { html } from 'hono/html'
import type { Html } from '../html.ts'
import { countOf, showCount, showDuration, showShare } from '../numbers.ts'
import { countDeliveries, type Figures, type HourFigures, type Statistics, successRate } from '../queries/statistics.ts'
import { day, hourOfDay } from '../time.ts'
import type { Visit } from '../visit.ts'
import { barChart, lineChart, roundUp, type Series } from './chart.ts'
import { table } from './table.ts'

const percentage = (figures: Figures): string => {
  const rate = successRate(figures)
  return rate === undefined ? '–' : showShare(rate)
}

const duration = (milliseconds: number | null): string => (milliseconds === null ? '–' : showDuration(milliseconds))

interface Row extends Figures {
  name: string
}

/** Hours with deliveries, latest first. */
const hourRows = (visit: Visit, hours: HourFigures[]): Row[] =>
  hours
    .filter((figures) => countDeliveries(figures) > 0)
    .reverse()
    .map((figures) => ({ ...figures, name: hourOfDay(figures.hour, visit.business.zone) }))

/** Days with deliveries, latest first. Percentiles of hours do not make those of a day: they are left out. */
function dayRows(visit: Visit, hours: HourFigures[]): Row[] {
  const days = new Map<string, Row>()
  for (const figures of hours.toReversed()) {
    if (countDeliveries(figures) === 0) continue
    const name = day(figures.hour, visit.business.zone)
    const sum = days.get(name) ?? { name, delivered: 0, failed: 0, canceled: 0, waiting: 0, p50_ms: null, p95_ms: null }
    sum.delivered += figures.delivered
    sum.failed += figures.failed
    sum.canceled += figures.canceled
    sum.waiting += figures.waiting
    days.set(name, sum)
  }
  return [...days.values()]
}

const inFigures = (rows: Row[], isByHour: boolean): Html => html`<details class="figures">
  <summary>The same in figures</summary>
  ${table(
    `Deliveries by ${isByHour ? 'hour' : 'day'}`,
    [
      { name: isByHour ? 'Hour' : 'Day', kind: 'lead' },
      ...['Delivered', 'Failed', 'Waiting', 'Success rate', ...(isByHour ? ['p50', 'p95'] : [])].map(
        (name) => ({ name, kind: 'number' }) as const,
      ),
    ],
    rows.map((row) => [
      row.name,
      showCount(row.delivered),
      showCount(row.failed),
      showCount(row.waiting),
      percentage(row),
      ...(isByHour ? [duration(row.p50_ms), duration(row.p95_ms)] : []),
    ]),
  )}
</details>`

/** Deliveries per hour, success rate and latency of a time, as pictures and as a table. */
export function statisticsCharts(visit: Visit, { hours, total }: Statistics, days: number): Html {
  const busiest = hours.reduce((most, figures) => (countDeliveries(figures) > countDeliveries(most) ? figures : most))
  const slowest = Math.max(...hours.map(({ p95_ms }) => p95_ms ?? 0))
  const topCount = roundUp(countDeliveries(busiest))
  const topLatency = roundUp(slowest)
  const placeName = days === 1 ? hourOfDay : day
  const places = [0, Math.floor(hours.length / 2), hours.length - 1].map((place) =>
    placeName(hours[place]?.hour ?? visit.now, visit.business.zone),
  )
  const series = (name: string, kind: Series['kind'], value: (figures: HourFigures) => number | undefined) => ({
    name,
    kind,
    values: hours.map(value),
  })
  const canceled = total.canceled === 0 ? '' : ` and ${showCount(total.canceled)} canceled`

  return html`<div class="charts">
  ${barChart({
    id: 'volume',
    title: 'Deliveries per hour',
    description: `${countOf(total.delivered, 'delivered', 'delivered')}, ${showCount(total.failed)} failed, ${showCount(total.waiting)} waiting${canceled}. Most in one hour: ${showCount(countDeliveries(busiest))}, ${hourOfDay(busiest.hour, visit.business.zone)}.`,
    top: topCount,
    showTop: showCount(topCount),
    showBottom: '0',
    places,
    series: [
      series('Delivered', 'delivered', ({ delivered }) => delivered),
      series('Failed', 'failed', ({ failed }) => failed),
      series('Waiting or canceled', 'waiting', ({ waiting, canceled: given_up }) => waiting + given_up),
    ],
  })}
  ${lineChart({
    id: 'success',
    title: 'Success rate',
    description: `${percentage(total)} of the deliveries that ended in this time succeeded.`,
    top: 1,
    showTop: '100%',
    showBottom: '0%',
    places,
    series: [series('Delivered of those ended', 'rate', successRate)],
  })}
  ${lineChart({
    id: 'latency',
    title: 'Latency',
    description: `Half of the consumers' answers took at most ${duration(total.p50_ms)}, 95% at most ${duration(total.p95_ms)}.`,
    top: topLatency,
    showTop: showDuration(topLatency),
    showBottom: '0 ms',
    places,
    series: [
      series('p50', 'middle', ({ p50_ms }) => p50_ms ?? undefined),
      series('p95', 'slow', ({ p95_ms }) => p95_ms ?? undefined),
    ],
  })}
</div>
${inFigures(days === 1 ? hourRows(visit, hours) : dayRows(visit, hours), days === 1)}`
}
