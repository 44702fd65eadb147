import type { TransactionSql } from 'postgres'

export const readSecret = async (sql: TransactionSql, configurationId: string): Promise<string> => {
  const [row] = await sql<{ secret: string }[]>`select internal.reveal_webhook_secret(${configurationId}) as secret`
  if (row === undefined) throw new Error('the configuration has no secret')
  return row.secret
}
