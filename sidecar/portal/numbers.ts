const counts = new Intl.NumberFormat('en')
const percents = new Intl.NumberFormat('en', { style: 'percent', maximumFractionDigits: 1 })

export const showCount = (count: number): string => counts.format(count)

export const countOf = (count: number, one: string, several = `${one}s`): string =>
  `${showCount(count)} ${count === 1 ? one : several}`

/** Rounded down, so that 100 % means every one. */
export const showShare = (share: number): string => percents.format(Math.floor(share * 1_000) / 1_000)

export const showDuration = (milliseconds: number): string =>
  milliseconds < 1_000 ? `${milliseconds} ms` : `${(milliseconds / 1_000).toFixed(milliseconds < 10_000 ? 2 : 1)} s`

export const showBytes = (bytes: number): string =>
  bytes < 1_000 ? `${bytes} bytes` : `${counts.format(Math.round(bytes / 100) / 10)} kB`
