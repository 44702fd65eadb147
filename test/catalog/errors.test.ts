import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'

const db = join(import.meta.dirname, '../../db')

const refuses = /internal\.refuse|\braise\b/
/** What tells a message from the other texts of a function that refuses: memos, titles, SQL, descriptions of input. */
const saysWhy = /\b(is|are|must|cannot|was|has|have|takes|match|names|fit|no|several|nothing|more|unknown)\b/i
const notInput = /^[^{(]/

/** A message as db/ERRORS.md writes it: … for what the request named, without the path that it begins with. */
const asWritten = (literal: string): string =>
  literal
    .replaceAll("''", "'")
    .replace(/%%?[sIL]/g, '…')
    .replace(/^[….:\s]+/, '')
    .trim()

const messagesIn = (sql: string): string[] => {
  const code = sql.replace(/^\s*--.*$/gm, '')
  const bodies = [...code.matchAll(/\$\$(.*?)\$\$/gs)]
    .map(([, body]) => String(body))
    .filter((body) => refuses.test(body))
  const literals = bodies.flatMap((body) =>
    [...body.matchAll(/'((?:[^']|'')*)'/g)].map(([, literal]) => String(literal)),
  )
  return [...new Set(literals.filter((text) => saysWhy.test(text) && notInput.test(text)).map(asWritten))]
}

/** Code and message, where both stand in the call. */
const codesIn = (sql: string): string[][] => [
  ...[...sql.matchAll(/internal\.refuse\((\d{3}), (?:format\()?'((?:[^']|'')*)'/g)].map(
    ([, status = '', text = '']) => [`| PT${status} |`, asWritten(text)],
  ),
  ...[...sql.matchAll(/internal\.refuse_input\((?:format\()?'((?:[^']|'')*)'/g)].map(([, text = '']) => [
    '| P0001 |',
    asWritten(text),
  ]),
]

const constraintsIn = (sql: string): string[] =>
  /grant [^;]*insert/.test(sql) ? [...sql.matchAll(/constraint (\w+)\s+check/g)].map(([, name]) => String(name)) : []

describe('db/ERRORS.md', () => {
  let lines: string[] = []
  let files: string[] = []
  const text = new Map<string, string>()

  beforeAll(async () => {
    lines = (await readFile(join(db, 'ERRORS.md'), 'utf8')).split('\n')
    files = (await readdir(join(db, 'fixtures'), { recursive: true })).filter((file) => file.endsWith('.sql')).sort()
    for (const file of files) text.set(file, await readFile(join(db, 'fixtures', file), 'utf8'))
  })

  const unlisted = (wanted: (sql: string) => (string | string[])[]): string[] =>
    files.flatMap((file) =>
      wanted(text.get(file) ?? '')
        .map((entry) => [file, entry].flat())
        .filter((parts) => !lines.some((line) => parts.every((part) => line.includes(part))))
        .map((parts) => parts.join(' ')),
    )

  it('lists every refusal of db/fixtures beside its file', () => {
    expect(unlisted(messagesIn)).toEqual([])
  })

  it('gives each its code', () => {
    expect(unlisted(codesIn)).toEqual([])
  })

  it('lists every constraint with a name that clients can meet', () => {
    expect(unlisted(constraintsIn)).toEqual([])
  })

  it('names no file that is gone', () => {
    const named = lines.flatMap((line) => line.match(/\b[\w/]+\.sql\b/g) ?? [])
    expect(named.filter((file) => !files.includes(file))).toEqual([])
  })
})
