import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { readConfig as readSidecarConfig } from '../../sidecar/config.ts'
import { readSettings } from '../../stack/settings.ts'
import { readConfig as readWorkerConfig } from '../../worker/config.ts'

test('defaults', () => {
  expect(readSettings({})).toEqual({
    PORT: 8000,
    HOST: '127.0.0.1',
    DATA_DIR: resolve('.data'),
    DEMO: true,
    LOG_LEVEL: 'warn',
    WEBHOOK_FIRE_SECONDS: 60,
    DELIVERY_RETENTION_DAYS: 30,
    ALLOW_PRIVATE_ADDRESSES: true,
  })
})

test('an empty variable is one that is not set', () => {
  expect(readSettings({ PORT: '', DATABASE_URL: '' })).toEqual(readSettings({}))
})

test('PUBLIC_URL loses a slash at its end', () => {
  expect(readSettings({ PUBLIC_URL: 'https://lading.example/' }).PUBLIC_URL).toBe('https://lading.example')
})

test.each([
  ['PORT', '80a'],
  ['PORT', '70000'],
  ['PORT', '-1'],
  ['PUBLIC_URL', 'lading.example'],
  ['PUBLIC_URL', 'ftp://lading.example'],
  ['PUBLIC_URL', 'https://lading.example/?a=b'],
  ['DATABASE_URL', 'mysql://localhost/lading'],
  ['DATABASE_URL', 'postgres://localhost'],
  ['DEMO', 'perhaps'],
  ['LOG_LEVEL', 'loud'],
  ['WEBHOOK_FIRE_SECONDS', '0'],
  ['WEBHOOK_FIRE_SECONDS', '1.5'],
  ['DELIVERY_RETENTION_DAYS', 'month'],
  ['ALLOW_PRIVATE_ADDRESSES', 'maybe'],
])('%s=%s is refused by name', (name, value) => {
  expect(() => readSettings({ [name]: value })).toThrow(new RegExp(`^Settings refused:\\n  ${name}: must `))
})

test('all wrong settings are named at once', () => {
  expect(() => readSettings({ PORT: 'x', DEMO: 'x' })).toThrow(/PORT: .*\n {2}DEMO: /)
})

test('a refusal does not repeat the value: it may be a secret', () => {
  expect(() => readSettings({ DATABASE_URL: 'mysql://user:hunter2@host/db' })).toThrow(
    expect.not.objectContaining({ message: expect.stringContaining('hunter2') }),
  )
})

test('sidecar and worker name a required setting that is missing', () => {
  expect(() => readSidecarConfig({})).toThrow('PUBLIC_URL: is required')
  expect(() => readWorkerConfig({})).toThrow('DATABASE_URL: is required')
})

test('.env.example lists every setting with its default', () => {
  const example = readFileSync(join(import.meta.dirname, '../../.env.example'), 'utf8')
  const listed = Object.fromEntries(
    example
      .split('\n')
      .filter((line) => /^[A-Z]/.test(line))
      .map((line) => line.split('=') as [string, string]),
  )
  expect(readSettings(listed)).toEqual(readSettings({}))
  expect(Object.keys(listed).sort()).toEqual(
    [...Object.keys(readSettings({})), ...['PUBLIC_URL', 'DATABASE_URL', 'POSTGREST_BIN']].sort(),
  )
})
