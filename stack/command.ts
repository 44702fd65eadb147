import { SettingsRefused } from './environment.ts'
import { StackError } from './stack_error.ts'

export class UsageError extends Error {
  override name = 'UsageError'
}

const isPlain = (error: unknown): error is Error =>
  error instanceof SettingsRefused || error instanceof StackError || error instanceof UsageError

const connectionFailed = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'ECONNREFUSED'

/** Runs a command of npm run: what the person can mend is shown without a stack trace. */
export async function runCommand(work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (isPlain(error)) console.error(error.message)
    else if (connectionFailed(error))
      console.error('The database does not answer. Is npm start (or the server of DATABASE_URL) running?')
    else console.error(error)
    process.exitCode = error instanceof UsageError ? 2 : 1
  }
}
