import type { TransactionSql } from 'postgres'
import { knownZone } from '../time.ts'
import type { Visit } from '../visit.ts'

/** Whose portal it is, and how the installation calls itself. */
export async function readBusiness(
  sql: TransactionSql,
  businessId: string,
): Promise<Pick<Visit, 'business' | 'installation'>> {
  const [row] = await sql<{ name: string; timezone_id: string | null; installation: string | null }[]>`
    select b.name, b.timezone_id, (select coalesce(w.title, w.name) from api.white_label w limit 1) as installation
    from api.businesses b
    where b.id = ${businessId}`
  return {
    business: { id: businessId, name: row?.name ?? '', zone: knownZone(row?.timezone_id ?? null) },
    installation: row?.installation || 'Webhooks',
  }
}
