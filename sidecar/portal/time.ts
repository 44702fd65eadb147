const formatters = new Map<string, Intl.DateTimeFormat>()

const formatter = (zone: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat => {
  const key = `${zone} ${JSON.stringify(options)}`
  const known = formatters.get(key)
  if (known !== undefined) return known
  const made = new Intl.DateTimeFormat('en-GB', { timeZone: zone, hourCycle: 'h23', ...options })
  formatters.set(key, made)
  return made
}

/** Postgres knows some zones that the browser's and Node's tables do not: then times are shown in UTC. */
export const knownZone = (zone: string | null): string => {
  if (zone === null) return 'UTC'
  try {
    formatter(zone, {})
    return zone
  } catch {
    return 'UTC'
  }
}

/** `2 Mar 2026, 10:00:05 CET` */
export const longTime = (time: Date, zone: string): string =>
  formatter(zone, {
    day: 'numeric',
    month: 'short',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    timeZoneName: 'short',
  }).format(time)

/** `Mon 2 Mar, 10:00` */
export const hourOfDay = (time: Date, zone: string): string =>
  formatter(zone, { weekday: 'short', day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' }).format(time)

/** `Mon 2 Mar` */
export const day = (time: Date, zone: string): string =>
  formatter(zone, { weekday: 'short', day: 'numeric', month: 'short' }).format(time)

const steps = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
] as const

const relative = new Intl.RelativeTimeFormat('en', { numeric: 'always' })

/** `3 minutes ago`, `in 2 hours` */
export const relativeTime = (time: Date, now: Date): string => {
  const seconds = (time.getTime() - now.getTime()) / 1_000
  const [unit, size] = steps.find(([, length]) => Math.abs(seconds) >= length) ?? ['second', 1]
  if (unit === 'second' && Math.abs(seconds) < 10) return seconds > 0 ? 'in a moment' : 'just now'
  return relative.format(Math.trunc(seconds / size), unit)
}

const wallClock = (time: Date, zone: string): string => {
  const parts = formatter(zone, {
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
  }).formatToParts(time)
  const of = (type: Intl.DateTimeFormatPartTypes) => parts.find((part) => part.type === type)?.value ?? ''
  return `${of('year').padStart(4, '0')}-${of('month')}-${of('day')}T${of('hour')}:${of('minute')}:${of('second')}`
}

/** The value of an `<input type="datetime-local">`. */
export const localInput = (time: Date, zone: string): string => wallClock(time, zone).slice(0, 16)

/** What an `<input type="datetime-local">` means in a zone; undefined when it is no time. */
export function readLocalInput(text: string, zone: string): Date | undefined {
  const match = /^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2})(:\d{2})?$/.exec(text)
  if (match === null) return undefined
  const wanted = `${match[1]}T${match[2]}${match[3] ?? ':00'}`
  const asUtc = Date.parse(`${wanted}Z`)
  if (Number.isNaN(asUtc) || !new Date(asUtc).toISOString().startsWith(wanted)) return undefined
  const offsetAt = (instant: number) => Date.parse(`${wallClock(new Date(instant), zone)}Z`) - instant
  const guess = asUtc - offsetAt(asUtc)
  return new Date(asUtc - offsetAt(guess))
}
