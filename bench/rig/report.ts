import type { Conditions } from './conditions.ts'
import { type Goal, isMet, type Measurement, median } from './entry.ts'

export interface Line {
  name: string
  unit: Measurement['unit']
  ours: number
  reference: number
  ratio: number
  goal: string
  met: boolean
  conditions: Conditions
  rounds: { ours: number[]; reference: number[] }
}

export interface Report {
  lines: Line[]
  conditions: Conditions
}

/** Wide where something else disturbed the rounds: then the ratio says little. */
const rangeOfRatios = ({ ours, reference }: Measurement): string => {
  const ratios = ours.map((figure, round) => figure / (reference[round] ?? Number.NaN))
  return `${Math.min(...ratios).toFixed(2)}–${Math.max(...ratios).toFixed(2)}`
}

const goalText = (goal: Goal): string => ('atLeast' in goal ? `≥ ${goal.atLeast}` : `≤ ${goal.atMost}`)

export const lineOf = (name: string, goal: Goal, measurement: Measurement): Line => {
  const ours = median(measurement.ours)
  const reference = median(measurement.reference)
  const ratio = ours / reference
  return {
    name: measurement.variant === undefined ? name : `${name} (${measurement.variant})`,
    unit: measurement.unit,
    ours,
    reference,
    ratio,
    goal: goalText(goal),
    met: isMet(ratio, goal),
    conditions: {
      rounds: measurement.ours.length,
      'ratio by round': rangeOfRatios(measurement),
      ...measurement.conditions,
    },
    rounds: { ours: measurement.ours, reference: measurement.reference },
  }
}

const figure = (value: number, unit: Measurement['unit']): string => {
  const text = value.toLocaleString('en', { maximumFractionDigits: value < 100 ? 1 : 0 })
  return unit === 'ms' ? `${text} ms` : `${text}/s`
}

const header = ['name', 'ours', 'reference', 'ratio', 'goal', 'met']

const cellsOf = (line: Line): string[] => [
  line.name,
  figure(line.ours, line.unit),
  figure(line.reference, line.unit),
  line.ratio.toFixed(line.ratio < 0.1 ? 4 : 2),
  line.goal,
  line.met ? 'yes' : 'NO',
]

const listed = (conditions: Conditions): string =>
  Object.entries(conditions)
    .map(([name, value]) => `${name} ${typeof value === 'number' ? value.toLocaleString('en') : value}`)
    .join(' · ')

export function tableOf({ lines, conditions }: Report): string {
  const rows = [header, ...lines.map(cellsOf)]
  const widths = header.map((_, column) => Math.max(...rows.map((row) => (row[column] ?? '').length)))
  const table = rows.map((row) =>
    row
      .map((cell, column) =>
        column === 0 || column > 3 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0),
      )
      .join('  ')
      .trimEnd(),
  )
  return [
    ...table,
    '',
    'Figures are medians of rounds measured in turn (ours, reference, ours, reference …).',
    ...Object.entries(conditions).map(([name, value]) => `${name}: ${value}`),
    ...lines.map((line) => `${line.name}: ${listed(line.conditions)}`),
  ].join('\n')
}
