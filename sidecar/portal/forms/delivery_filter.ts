import { type DeliveryFilter, type State, states } from '../queries/deliveries.ts'
import { readLocalInput } from '../time.ts'
import { isId } from './ids.ts'

export const filterFields = ['configuration', 'action', 'state', 'object', 'since', 'until'] as const

export type FilterField = (typeof filterFields)[number]

export interface ReadFilter {
  given: Record<FilterField, string>
  filter: DeliveryFilter
  errors: Partial<Record<FilterField, string>>
  isActive: boolean
}

const isState = (text: string): text is State => (states as readonly string[]).includes(text)

export function readFilter(query: URLSearchParams, zone: string, actions: readonly string[]): ReadFilter {
  const given = Object.fromEntries(
    filterFields.map((name) => [name, (query.get(name) ?? '').trim()]),
  ) as ReadFilter['given']
  const errors: ReadFilter['errors'] = {}

  const read = <Value>(name: FilterField, value: Value | undefined, problem: string): Value | null => {
    if (given[name] === '') return null
    if (value === undefined) errors[name] = problem
    return value ?? null
  }
  const idFrom = (text: string) => (isId(text) ? text : undefined)
  const notATime = 'This is not a date and time.'
  const filter: DeliveryFilter = {
    configuration: read('configuration', idFrom(given.configuration), 'There is no such configuration.'),
    action: read('action', actions.includes(given.action) ? given.action : undefined, 'There is no such action.'),
    state: read('state', isState(given.state) ? given.state : undefined, 'There is no such state.'),
    object: read('object', idFrom(given.object), 'This is not an id: copy the whole UUID.'),
    since: read('since', readLocalInput(given.since, zone), notATime),
    until: read('until', readLocalInput(given.until, zone), notATime),
  }
  if (filter.since != null && filter.until != null && filter.since >= filter.until) {
    errors.until = 'The end of the time is before its beginning.'
  }
  return { given, filter, errors, isActive: Object.values(given).some((text) => text !== '') }
}
