import type { Ledger, Stock } from './ledger.ts'

const INDENT = ' '.repeat(16)

export type Tell = (clock: string, subject: string, what: string) => Promise<void>

/** Prints what happened, and below it what it did to the inventory. */
export const teller =
  (ledger: Ledger): Tell =>
  async (clock, subject, what) => {
    console.log(`${clock}  ${subject.padEnd(7)}  ${what}`)
    for (const line of await ledger.news()) console.log(`${INDENT}${line}`)
  }

type Column = 'on_hand' | 'available_to_sell' | 'committed' | 'unavailable' | 'incoming'

const COLUMNS: [title: string, quantity: Column][] = [
  ['on hand', 'on_hand'],
  ['to sell', 'available_to_sell'],
  ['committed', 'committed'],
  ['unavailable', 'unavailable'],
  ['incoming', 'incoming'],
]

/** The stock as a table; what is not as it was `before` shows both. */
export function printStock(title: string, stock: Stock[], before: Stock[] = stock): void {
  const cell = (now: Stock, column: Column) => {
    const was = before.find(({ place, good }) => place === now.place && good === now.good)?.[column] ?? 0
    return was === now[column] ? String(was) : `${was} → ${now[column]}`
  }
  const rows = [
    ['place', 'item', ...COLUMNS.map(([name]) => name)],
    ...stock.map((row) => [row.place, row.good, ...COLUMNS.map(([, column]) => cell(row, column))]),
  ]
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? []
  console.log(`\n${title}\n`)
  for (const row of rows) {
    const cells = row.map((text, column) =>
      column < 2 ? text.padEnd(widths[column] ?? 0) : text.padStart(widths[column] ?? 0),
    )
    console.log(`  ${cells.join('  ')}`)
  }
  console.log()
}
