import { localInput, readLocalInput } from '../time.ts'
import type { Visit } from '../visit.ts'
import { isId } from './ids.ts'

export const replayKinds = ['failed', 'missing', 'all'] as const

export type ReplayKind = (typeof replayKinds)[number]

export interface Replay {
  configuration: string
  only: ReplayKind
  since: Date
  until: Date
}

export interface ReadReplay {
  given: { configuration: string; only: ReplayKind; since: string; until: string }
  errors: Partial<Record<'configuration' | 'since' | 'until', string>>
  /** Undefined when something is wrong. */
  replay: Replay | undefined
}

const DAY = 86_400_000

const isKind = (text: string | null): text is ReplayKind => (replayKinds as readonly (string | null)[]).includes(text)

export function readReplayForm({ query, business, now }: Visit): ReadReplay {
  const given = {
    configuration: query.get('configuration') ?? '',
    only: isKind(query.get('only')) ? (query.get('only') as ReplayKind) : 'failed',
    since: (query.get('since') ?? localInput(new Date(now.getTime() - DAY), business.zone)).trim(),
    until: (query.get('until') ?? '').trim(),
  }
  const errors: ReadReplay['errors'] = {}
  const since = readLocalInput(given.since, business.zone)
  const until = given.until === '' ? now : readLocalInput(given.until, business.zone)
  if (!isId(given.configuration)) errors.configuration = 'Choose a configuration.'
  if (since === undefined) errors.since = 'Enter a date and time.'
  if (until === undefined) errors.until = 'This is not a date and time.'
  if (since !== undefined && until !== undefined && since >= until) errors.until = 'The end is before the beginning.'
  const isComplete = Object.keys(errors).length === 0 && since !== undefined && until !== undefined
  return { given, errors, replay: isComplete ? { ...given, since, until } : undefined }
}

/** The confirmed replay: exactly what was counted. */
export function readConfirmedReplay(form: URLSearchParams): Replay | undefined {
  const configuration = form.get('configuration')
  const only = form.get('only')
  const since = new Date(form.get('since') ?? '')
  const until = new Date(form.get('until') ?? '')
  const areTimes = ![since, until].some((time) => Number.isNaN(time.getTime()))
  return isId(configuration) && isKind(only) && areTimes ? { configuration, only, since, until } : undefined
}
