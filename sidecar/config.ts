import { z } from 'zod'
import { databaseAddress, httpAddress, logLevel, port, readEnvironment } from '../stack/environment.ts'

const schema = z.object({
  PORT: port.default(8000),
  HOST: z.string().default('0.0.0.0'),
  PUBLIC_URL: httpAddress,
  /** Connects as authenticator. */
  DATABASE_URL: databaseAddress,
  /** PostgREST: `unix:/path/of/socket` or `http://host:port`. */
  POSTGREST_UPSTREAM: z.string().regex(/^(unix:\/|http:\/\/)/, 'must be unix:/path/of/socket or http://host:port'),
  LOG_LEVEL: logLevel.default('info'),
})

export type SidecarConfig = z.infer<typeof schema>

export const readConfig = (environment: NodeJS.ProcessEnv): SidecarConfig => readEnvironment(schema, environment)
