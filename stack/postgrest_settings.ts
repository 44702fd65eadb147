// One place for how PostgREST is run, on every driver. The JWT secret and audience come from internal.postgrest_config.

const logLevels: Record<string, string> = { debug: 'info', trace: 'info', info: 'warn', warn: 'error', error: 'error' }

/** A request that runs longer is ended, so that a few heavy ones do not take the pool from everybody. */
const STATEMENT_SECONDS = 15

const withTimeLimit = (url: string): string => {
  const limited = new URL(url)
  limited.searchParams.set('options', `-c statement_timeout=${STATEMENT_SECONDS}s`)
  return limited.href.replaceAll('+', '%20')
}

export const postgrestSettings = (options: {
  authenticatorUrl: string
  publicUrl: string
  logLevel: string
}): NodeJS.ProcessEnv => ({
  PGRST_DB_URI: withTimeLimit(options.authenticatorUrl),
  PGRST_DB_SCHEMAS: 'api',
  PGRST_DB_ANON_ROLE: 'anon',
  PGRST_DB_PRE_CONFIG: 'internal.postgrest_config',
  PGRST_DB_PRE_REQUEST: 'internal.check_request',
  PGRST_DB_EXTRA_SEARCH_PATH: '',
  PGRST_DB_TX_END: 'commit-allow-override',
  PGRST_DB_MAX_ROWS: '1000',
  PGRST_DB_POOL: '16',
  PGRST_JWT_CACHE_MAX_LIFETIME: '3600',
  PGRST_JWT_CACHE_MAX_ENTRIES: '10000',
  PGRST_OPENAPI_SERVER_PROXY_URI: `${options.publicUrl}/rest/v1`,
  PGRST_LOG_LEVEL: logLevels[options.logLevel] ?? 'crit',
})
