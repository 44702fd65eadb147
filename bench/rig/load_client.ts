import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { Load, LoadAnswer, LoadResult } from './load.ts'

export interface LoadClient {
  run(load: Load): Promise<LoadResult>
  stop(): Promise<void>
}

export function startLoadClient(): LoadClient {
  const child = fork(join(import.meta.dirname, 'load_program.ts'), { detached: true })
  const ended = once(child, 'exit')
  return {
    run: (load) =>
      new Promise((resolve, reject) => {
        const onExit = () => reject(new Error('the load client ended'))
        child.once('exit', onExit)
        child.once('message', (answer: LoadAnswer) => {
          child.off('exit', onExit)
          if ('result' in answer) resolve(answer.result)
          else reject(new Error(answer.problem))
        })
        child.send(load)
      }),
    stop: async () => {
      if (child.connected) child.disconnect()
      await ended
    },
  }
}
