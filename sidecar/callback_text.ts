import { pathText } from './callback_problem.ts'

const MOST_LEVELS = 100

interface Visit {
  value: unknown
  key: PropertyKey
  level: number
  parent: Visit | undefined
}

const pathOf = (visit: Visit): PropertyKey[] => {
  const path: PropertyKey[] = []
  for (let at: Visit = visit; at.parent !== undefined; at = at.parent) path.unshift(at.key)
  return path
}

const textProblem = (text: string): string | undefined => {
  if (text.includes('\0')) return 'must not contain a NUL character'
  return text.isWellFormed() ? undefined : 'must be valid Unicode'
}

/** What JSON allows and the database cannot store, with its path: NUL, half characters, endless nesting. */
export function findUnstorable(message: object): string | undefined {
  const waiting: Visit[] = [{ value: message, key: '', level: 0, parent: undefined }]
  for (let visit = waiting.pop(); visit !== undefined; visit = waiting.pop()) {
    const { value, level } = visit
    if (typeof value === 'string') {
      const problem = textProblem(value)
      if (problem !== undefined) return `${pathText(pathOf(visit))}: ${problem}`
    }
    if (typeof value !== 'object' || value === null) continue
    if (level === MOST_LEVELS) return `${pathText(pathOf(visit).slice(0, 3))}: must not be nested so deeply`
    if (Array.isArray(value)) {
      for (let index = value.length - 1; index >= 0; index -= 1) {
        waiting.push({ value: value[index], key: index, level: level + 1, parent: visit })
      }
    } else {
      for (const [key, child] of Object.entries(value).reverse()) {
        if (textProblem(key) !== undefined) {
          const path = pathText(pathOf(visit))
          return `${path === '' ? '' : `${path}: `}a field's name ${textProblem(key)}`
        }
        waiting.push({ value: child, key, level: level + 1, parent: visit })
      }
    }
  }
  return undefined
}
