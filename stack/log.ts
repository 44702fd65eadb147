import { pino } from 'pino'

export type Log = pino.Logger

export const makeLog = (level: string, process: string): Log =>
  pino(
    { level, base: { process }, timestamp: pino.stdTimeFunctions.isoTime },
    pino.destination({ dest: 2, sync: true }),
  )

export const silentLog: Log = pino({ level: 'silent' })
