import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'

export interface Receiver {
  /** `http://127.0.0.1:port` */
  url: string
  stop(): Promise<void>
}

/** A warehouse or consumer that both sides post to. */
export async function startReceiver(): Promise<Receiver> {
  const child = fork(join(import.meta.dirname, 'receiver_program.ts'), { detached: true })
  const ended = once(child, 'exit')
  const [port] = (await once(child, 'message')) as [number]
  return {
    url: `http://127.0.0.1:${port}`,
    stop: async () => {
      if (child.connected) child.disconnect()
      await ended
    },
  }
}
