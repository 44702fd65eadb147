import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { UsageError } from '../../stack/command.ts'
import type { Entry } from './entry.ts'

const folder = join(import.meta.dirname, '..')

export const entryNames = async (): Promise<string[]> =>
  (await readdir(folder, { withFileTypes: true }))
    .filter((file) => file.isFile() && file.name.endsWith('.ts'))
    .map((file) => file.name.slice(0, -'.ts'.length))
    .sort()

export async function chooseEntries(only: string[] | undefined): Promise<string[]> {
  const names = await entryNames()
  const unknown = only?.find((name) => !names.includes(name))
  if (unknown !== undefined) {
    throw new UsageError(`--only ${unknown}: there is no such measurement. There are: ${names.join(', ')}.`)
  }
  return only ?? names
}

export async function loadEntry(name: string): Promise<Entry> {
  const module = (await import(join(folder, `${name}.ts`))) as { default: Entry }
  return module.default
}
