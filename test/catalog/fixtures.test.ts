import { readdir, readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'

const folder = join(import.meta.dirname, '../../db/fixtures')

describe('db/fixtures', () => {
  let files: string[] = []
  let included: string[] = []
  const text = new Map<string, string>()

  beforeAll(async () => {
    const manifest = await readFile(join(folder, 'all.sql'), 'utf8')
    included = [...manifest.matchAll(/^--!include (.+)$/gm)].map(([, file]) => String(file))
    files = (await readdir(folder, { recursive: true })).filter((file) => file.endsWith('.sql') && file !== 'all.sql')
    for (const file of files) text.set(file, await readFile(join(folder, file), 'utf8'))
  })

  const filesWith = (fault: (content: string, file: string) => boolean): string[] =>
    files.filter((file) => fault(text.get(file) ?? '', file)).sort()

  it('every file stands once in the manifest', () => {
    expect([...included].sort()).toEqual([...files].sort())
  })

  it('no two files have the same name', () => {
    const names = files.map((file) => basename(file))
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([])
  })

  it('every file opens with its contract', () => {
    expect(filesWith((content) => !content.startsWith('-- '))).toEqual([])
  })

  it('every file has spaces for indentation, no space at the end of a line, one line end at its end, and lines that fit', () => {
    expect(filesWith((content) => /\t|[ \r]$/m.test(content) || !/[^\n]\n$/.test(content))).toEqual([])
    expect(filesWith((content) => content.split('\n').some((line) => line.length > 200))).toEqual([])
  })

  it('a refusal has a code: no `raise exception` without one', () => {
    expect(filesWith((content) => /raise exception '[^;]*;/i.test(content) && !/errcode/i.test(content))).toEqual([])
  })

  it('no handler hides errors: no `when others`', () => {
    expect(filesWith((content) => /when\s+others/i.test(content))).toEqual([])
  })
})
