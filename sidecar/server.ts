import { endWithSignals } from '../stack/end_with_signals.ts'
import { SettingsRefused } from '../stack/environment.ts'
import { makeLog } from '../stack/log.ts'
import { readConfig } from './config.ts'
import { startSidecar } from './sidecar.ts'

try {
  const config = readConfig(process.env)
  const log = makeLog(config.LOG_LEVEL, 'sidecar')
  const sidecar = await startSidecar({
    host: config.HOST,
    port: config.PORT,
    publicUrl: config.PUBLIC_URL,
    authenticatorUrl: config.DATABASE_URL,
    upstream: config.POSTGREST_UPSTREAM,
    log,
  })
  process.send?.('ready')
  endWithSignals(() => sidecar.close(), log)
} catch (error) {
  console.error(error instanceof SettingsRefused ? error.message : error)
  process.exit(1)
}
