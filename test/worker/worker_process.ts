import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'

/** The worker as a process of its own, to be killed. */
export async function startWorkerProcess(ownerUrl: string): Promise<ChildProcess> {
  const child = fork(join(import.meta.dirname, '../../worker/main.ts'), {
    env: { PATH: process.env.PATH, DATABASE_URL: ownerUrl, ALLOW_PRIVATE_ADDRESSES: 'on', LOG_LEVEL: 'error' },
    execArgv: [],
  })
  await once(child, 'message')
  return child
}
