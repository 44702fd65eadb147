import { existsSync } from 'node:fs'
import { banner } from './banner.ts'
import { embedded } from './embedded/driver.ts'
import { endWithSignals } from './end_with_signals.ts'
import { SettingsRefused } from './environment.ts'
import { makeLog } from './log.ts'
import { readSettings } from './settings.ts'
import { type Stack, startStack } from './stack.ts'
import { StackError } from './stack_error.ts'
import { watchParent } from './watch_parent.ts'

const started = performance.now()

try {
  if (existsSync('.env')) process.loadEnvFile('.env')
  const settings = readSettings(process.env)
  const log = makeLog(settings.LOG_LEVEL, 'stack')
  let stack: Stack | undefined
  // What a start that is not complete has begun ends by itself when this process does.
  const end = endWithSignals(async () => stack?.stop(), log)
  watchParent(end)
  stack = await startStack(settings, embedded, log)
  console.log(banner(stack, (performance.now() - started) / 1_000))
} catch (error) {
  console.error(error instanceof SettingsRefused || error instanceof StackError ? error.message : error)
  process.exit(1)
}
