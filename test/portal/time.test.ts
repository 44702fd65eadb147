import { describe, expect, test } from 'vitest'
import { showShare } from '../../sidecar/portal/numbers.ts'
import { roundUp } from '../../sidecar/portal/parts/chart.ts'
import { knownZone, localInput, longTime, readLocalInput, relativeTime } from '../../sidecar/portal/time.ts'

const at = (text: string) => new Date(text)

describe('a time', () => {
  test('is shown with its zone', () => {
    expect(longTime(at('2026-03-02T09:00:05Z'), 'Europe/Berlin')).toBe('2 Mar 2026, 10:00:05 CET')
    expect(longTime(at('2026-07-02T09:00:05Z'), 'Europe/Berlin')).toBe('2 Jul 2026, 11:00:05 CEST')
    expect(longTime(at('2026-03-02T09:00:05Z'), 'UTC')).toBe('2 Mar 2026, 09:00:05 UTC')
  })

  test.each([
    ['2026-03-02T10:00', 'Europe/Berlin', '2026-03-02T09:00:00.000Z'],
    ['2026-07-02T10:00:30', 'Europe/Berlin', '2026-07-02T08:00:30.000Z'],
    ['2026-03-29T03:30', 'Europe/Berlin', '2026-03-29T01:30:00.000Z'],
    ['2026-01-01T00:00', 'America/New_York', '2026-01-01T05:00:00.000Z'],
    ['2026-01-01T05:30', 'Asia/Kolkata', '2026-01-01T00:00:00.000Z'],
    ['2026-01-01T00:00', 'UTC', '2026-01-01T00:00:00.000Z'],
  ])('%s entered in %s is %s', (text, zone, instant) => {
    expect(readLocalInput(text, zone)?.toISOString()).toBe(instant)
    expect(localInput(at(instant), zone)).toBe(text.slice(0, 16))
  })

  test.each(['', 'tomorrow', '2026-02-31T10:00', '2026-13-01T10:00', '2026-01-01T25:00', '2026-01-01'])(
    '"%s" is none',
    (text) => {
      expect(readLocalInput(text, 'UTC')).toBeUndefined()
    },
  )

  test.each([
    [-3, 'just now'],
    [-45, '45 seconds ago'],
    [-60, '1 minute ago'],
    [-7_300, '2 hours ago'],
    [-200_000, '2 days ago'],
    [4, 'in a moment'],
    [3_700, 'in 1 hour'],
  ])('%s seconds from now is %s', (seconds, text) => {
    const now = at('2026-03-02T09:00:00Z')
    expect(relativeTime(new Date(now.getTime() + seconds * 1_000), now)).toBe(text)
  })

  test('of a zone that is not known here is shown in UTC', () => {
    expect(knownZone('Europe/Berlin')).toBe('Europe/Berlin')
    expect(knownZone('Mars/Olympus')).toBe('UTC')
    expect(knownZone(null)).toBe('UTC')
  })
})

test('100% means every one', () => {
  expect(showShare(0.99999)).toBe('99.9%')
  expect(showShare(1)).toBe('100%')
})

test('scales end with a round number', () => {
  expect([0, 1, 3, 10, 11, 49, 51, 1_234].map(roundUp)).toEqual([1, 1, 5, 10, 20, 50, 100, 2_000])
})
