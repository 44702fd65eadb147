import { html } from 'hono/html'
import type { Html } from '../html.ts'

export interface Series {
  name: string
  /** Decides the colour: a class of the style sheet. */
  kind: 'delivered' | 'failed' | 'waiting' | 'middle' | 'slow' | 'rate'
  /** One per place; undefined where there is nothing to show. */
  values: (number | undefined)[]
}

interface Chart {
  id: string
  title: string
  /** What the picture says, for those who do not see it. */
  description: string
  top: number
  showTop: string
  showBottom: string
  /** Below the picture, from left to right. */
  places: string[]
  series: Series[]
}

const HEIGHT = 100
const LEAST_BAR = 2

const round = (value: number): number => Math.round(value * 100) / 100

/** Bars on top of one another; the smallest is still seen. */
function stackedBars(series: Series[], top: number): Html[] {
  const length = series[0]?.values.length ?? 0
  const gap = length <= 24 ? 0.25 : length <= 168 ? 0.12 : 0
  const filled = new Array<number>(length).fill(0)
  return series.map(({ kind, values }) => {
    const path = values.map((value, place) => {
      if (value === undefined || value === 0) return ''
      const height = Math.max((value / top) * HEIGHT, LEAST_BAR)
      const below = filled[place] ?? 0
      filled[place] = below + height
      return `M${round(place + gap / 2)} ${round(HEIGHT - below)}v${-round(height)}h${round(1 - gap)}v${round(height)}z`
    })
    return html`<path class="bar ${kind}" d="${path.join('')}"></path>`
  })
}

const FEW = 24

/** A line through neighbouring places; dots where they are few, and where a value is alone and has no line. */
function line({ kind, values }: Series, top: number): Html {
  let path = ''
  let dots = ''
  values.forEach((value, place) => {
    if (value === undefined) return
    const x = place + 0.5
    const y = round(HEIGHT - (value / top) * HEIGHT)
    path += `${place > 0 && values[place - 1] !== undefined ? 'L' : 'M'}${x} ${y}`
    const isAlone = values[place - 1] === undefined && values[place + 1] === undefined
    if (isAlone || values.length <= FEW) dots += `M${x} ${y}h0`
  })
  return html`<path class="line ${kind}" d="${path}"></path><path class="dots ${kind}" d="${dots}"></path>`
}

const frame = (chart: Chart, marks: Html[]): Html => {
  const length = chart.series[0]?.values.length ?? 1
  return html`<figure class="chart">
  <figcaption>
    <h3>${chart.title}</h3>
    <ul class="legend">${chart.series.map(({ name, kind }) => html`<li><span class="swatch ${kind}" aria-hidden="true"></span>${name}</li>`)}</ul>
  </figcaption>
  <div class="plot">
    <div class="scale" aria-hidden="true"><span>${chart.showTop}</span><span>${chart.showBottom}</span></div>
    <svg role="img" aria-labelledby="${chart.id}-title ${chart.id}-text" viewBox="0 -2 ${length} ${HEIGHT + 4}" preserveAspectRatio="none">
      <title id="${chart.id}-title">${chart.title}</title>
      <desc id="${chart.id}-text">${chart.description}</desc>
      <path class="grid" d="M0 0H${length}M0 ${HEIGHT / 2}H${length}M0 ${HEIGHT}H${length}"></path>
      ${marks}
    </svg>
  </div>
  <div class="places" aria-hidden="true">${chart.places.map((place) => html`<span>${place}</span>`)}</div>
</figure>`
}

export const barChart = (chart: Chart): Html => frame(chart, stackedBars(chart.series, chart.top))

export const lineChart = (chart: Chart): Html =>
  frame(
    chart,
    chart.series.map((series) => line(series, chart.top)),
  )

/** The round number above a value that the scale of a chart ends with: 1, 2 or 5 and zeros. */
export const roundUp = (value: number): number => {
  if (value <= 1) return 1
  const magnitude = 10 ** Math.floor(Math.log10(value))
  return ([1, 2, 5, 10].find((step) => value <= step * magnitude) ?? 10) * magnitude
}
