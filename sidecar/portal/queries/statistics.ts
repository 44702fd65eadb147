import type { TransactionSql } from 'postgres'

export interface Figures {
  delivered: number
  failed: number
  canceled: number
  waiting: number
  p50_ms: number | null
  p95_ms: number | null
}

export interface HourFigures extends Figures {
  hour: Date
}

export interface Statistics {
  /** Every hour of the time, also those without deliveries. */
  hours: HourFigures[]
  total: Figures
}

const HOUR = 3_600_000

const nothing: Figures = { delivered: 0, failed: 0, canceled: 0, waiting: 0, p50_ms: null, p95_ms: null }

/** Deliveries that fired in the last days, by hour: that of `now` is the last. */
export async function readStatistics(sql: TransactionSql, days: number, now: Date): Promise<Statistics> {
  const lastHour = Math.floor(now.getTime() / HOUR) * HOUR
  const starts = Array.from({ length: days * 24 }, (_, index) => lastHour - (days * 24 - 1 - index) * HOUR)
  const rows = await sql<(Figures & { hour: Date | null })[]>`
    select hour, delivered, failed, canceled, waiting, p50_ms, p95_ms
    from internal.webhook_delivery_statistics(${new Date(starts[0] ?? lastHour)}, ${new Date(lastHour + HOUR)})`
  const byHour = new Map(rows.map(({ hour, ...figures }) => [hour?.getTime(), figures]))
  return {
    hours: starts.map((start) => ({ ...(byHour.get(start) ?? nothing), hour: new Date(start) })),
    total: byHour.get(undefined) ?? nothing,
  }
}

export const countDeliveries = ({ delivered, failed, canceled, waiting }: Figures): number =>
  delivered + failed + canceled + waiting

/** Of those that have ended; undefined while none has. */
export const successRate = ({ delivered, failed }: Figures): number | undefined =>
  delivered + failed === 0 ? undefined : delivered / (delivered + failed)
