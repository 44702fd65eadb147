import { z } from 'zod'
import { databaseAddress, flag, logLevel, readEnvironment, wholeNumber } from '../stack/environment.ts'

const schema = z.object({
  /** The owner of the database. */
  DATABASE_URL: databaseAddress,
  LOG_LEVEL: logLevel.default('info'),
  WORKER_CONCURRENCY: wholeNumber(1, 1_000).default(50),
  WEBHOOK_FIRE_SECONDS: wholeNumber(1, 86_400).default(60),
  DELIVERY_RETENTION_DAYS: wholeNumber(1, 3_650).default(30),
  ALLOW_PRIVATE_ADDRESSES: flag.default(false),
})

export type WorkerConfig = z.infer<typeof schema>

export const readConfig = (environment: NodeJS.ProcessEnv): WorkerConfig => readEnvironment(schema, environment)
