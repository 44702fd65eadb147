import { endWithSignals } from '../stack/end_with_signals.ts'
import { SettingsRefused } from '../stack/environment.ts'
import { makeLog } from '../stack/log.ts'
import { readConfig } from './config.ts'
import { startWorker } from './worker.ts'

try {
  const config = readConfig(process.env)
  const log = makeLog(config.LOG_LEVEL, 'worker')
  const worker = await startWorker({
    ownerUrl: config.DATABASE_URL,
    concurrency: config.WORKER_CONCURRENCY,
    fireSeconds: config.WEBHOOK_FIRE_SECONDS,
    retentionDays: config.DELIVERY_RETENTION_DAYS,
    allowPrivateAddresses: config.ALLOW_PRIVATE_ADDRESSES,
    log,
  })
  log.info('worker is running')
  process.send?.('ready')
  endWithSignals(() => worker.stop(), log)
  await worker.ended
} catch (error) {
  console.error(error instanceof SettingsRefused ? error.message : error)
  process.exit(1)
}
