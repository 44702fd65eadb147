import type { Log } from './log.ts'

/** Ends this process cleanly on a signal, and also when the process that started it is gone. */
export function endWithSignals(stop: () => Promise<unknown>, log: Log): (reason: string) => void {
  let isEnding = false
  const end = (reason: string) => {
    if (isEnding) return
    isEnding = true
    log.info({ reason }, 'ending')
    stop().then(
      () => process.exit(0),
      (error: unknown) => {
        log.error({ err: error }, 'did not end cleanly')
        process.exit(1)
      },
    )
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => end(signal))
  if (process.channel !== undefined) {
    process.once('disconnect', () => end('parent is gone'))
    process.channel?.unref()
  }
  return end
}
