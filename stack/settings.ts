import { resolve } from 'node:path'
import { z } from 'zod'
import { databaseAddress, flag, httpAddress, logLevel, port, readEnvironment, wholeNumber } from './environment.ts'

const schema = z.object({
  PORT: port.default(8000),
  HOST: z.string().default('127.0.0.1'),
  PUBLIC_URL: httpAddress.optional(),
  DATA_DIR: z
    .string()
    .default('.data')
    .transform((folder) => resolve(folder)),
  DATABASE_URL: databaseAddress.optional(),
  DEMO: flag.default(true),
  LOG_LEVEL: logLevel.default('warn'),
  POSTGREST_BIN: z.string().optional(),
  WEBHOOK_FIRE_SECONDS: wholeNumber(1, 86_400).default(60),
  DELIVERY_RETENTION_DAYS: wholeNumber(1, 3_650).default(30),
  ALLOW_PRIVATE_ADDRESSES: flag.default(true),
})

export type Settings = z.infer<typeof schema>

export const readSettings = (environment: NodeJS.ProcessEnv): Settings => readEnvironment(schema, environment)
