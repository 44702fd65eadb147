import type { Rig } from './rig.ts'

/** One line of quality.md, in a file of its name: bench/<name>.ts exports it as its default. */
export interface Entry {
  goal: Goal
  measure(rig: Rig): Promise<Measurement[]>
}

/** About the ratio ours / reference. */
export type Goal = { atLeast: number } | { atMost: number }

export interface Measurement {
  /** Tells several measurements of one entry apart. */
  variant?: string
  unit: '/s' | 'ms'
  /** One figure per round, in the order measured. */
  ours: number[]
  reference: number[]
  conditions: Record<string, string | number>
}

export const isMet = (ratio: number, goal: Goal): boolean =>
  'atLeast' in goal ? ratio >= goal.atLeast : ratio <= goal.atMost

export const median = (figures: number[]): number => {
  const sorted = figures.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  const upper = sorted[middle] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? upper) + upper) / 2
}
