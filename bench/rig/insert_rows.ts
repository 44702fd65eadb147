import type { Statement } from './load.ts'

type Row = Record<string, Statement['parameters'][number]>

/** One multi-row INSERT. All rows have the columns of the first. */
export const insertRows = (table: string, rows: Row[]): Statement => {
  const columns = Object.keys(rows[0] ?? {})
  const placeholders = rows.map(
    (_, row) => `(${columns.map((_, column) => `$${row * columns.length + column + 1}`).join(', ')})`,
  )
  return {
    text: `insert into ${table} (${columns.join(', ')}) values ${placeholders.join(', ')}`,
    parameters: rows.flatMap((row) => columns.map((column) => row[column] ?? null)),
  }
}
