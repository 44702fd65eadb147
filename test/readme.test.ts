import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, expect, test } from 'vitest'
import { writeConnection } from '../stack/connection.ts'
import { makeDemo } from '../stack/demo.ts'
import { privateFolder, removeFolder } from '../stack/temporary_folder.ts'
import { startLading } from './harness/lading.ts'

const root = join(import.meta.dirname, '..')
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

interface Step {
  language: string
  code: string
  answer: string | undefined
  answerIsJson: boolean
}

/** The tour: each block of commands, with the answer that stands right below it. */
const readTour = async (): Promise<Step[]> => {
  const readme = await readFile(join(root, 'README.md'), 'utf8')
  const tour = /^## Five minutes\n(.*?)^## /ms.exec(readme)?.[1] ?? ''
  const blocks = /^```(sh|js)\n(.*?)^```\n(?:```(json|text)\n(.*?)^```\n)?/gms
  return [...tour.matchAll(blocks)].map(([, language = '', code = '', kind, answer]) => ({
    language,
    code,
    answer,
    answerIsJson: kind === 'json',
  }))
}

const END_OF_STEP = '--- end of step ---'

const inShell = ({ language, code }: Step): string =>
  language === 'js' ? `node --input-type=module - <<'END_OF_PROGRAM'\n${code}END_OF_PROGRAM\n` : code

/** The README shows the fields that matter, and ids of its own run. */
const asShown = (value: unknown): unknown => {
  if (typeof value === 'string') return uuid.test(value) ? expect.stringMatching(uuid) : value
  if (Array.isArray(value)) return value.map(asShown)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, asShown(inner)]))
}

const lading = await startLading()
const folder = await privateFolder()
afterAll(() => removeFolder(folder))

test('the tour of README.md answers as it says', async () => {
  await writeConnection(folder, {
    base_url: lading.baseUrl,
    rest_url: lading.restUrl,
    database_url: lading.ownerUrl,
    application_key: lading.applicationKey,
    operator_key: lading.operatorKey,
    demo: await makeDemo(lading.sql),
  })
  const steps = await readTour()
  expect(steps.filter(({ answer }) => answer !== undefined).length).toBeGreaterThan(9)

  const script = steps.map((step) => `${inShell(step)}\necho; echo '${END_OF_STEP}'\n`).join('')
  const { stdout, stderr } = await promisify(execFile)('bash', ['--norc', '-euc', script], {
    cwd: root,
    env: { PATH: process.env.PATH, DATA_DIR: folder },
  })
  expect(stderr).toBe('')

  const answers = stdout.split(`${END_OF_STEP}\n`)
  for (const [index, { code, answer, answerIsJson }] of steps.entries()) {
    if (answer === undefined) continue
    const came = answers[index] ?? ''
    if (answerIsJson) expect(JSON.parse(came), code).toMatchObject(asShown(JSON.parse(answer)) as object)
    else expect(came.trim(), code).toBe(answer.trim())
  }
})
