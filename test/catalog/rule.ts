import type postgres from 'postgres'
import { describe, expect, it } from 'vitest'

export interface Rule {
  title: string
  /** A query for what breaks the rule, by name in its first column. */
  violations: string
  /** Statements that break the rule, tried and taken back: the rule must notice. */
  breach: string
}

type Database = () => postgres.Sql

const takeBack = new Error('taken back')

const find = async (tx: postgres.TransactionSql, violations: string): Promise<unknown[]> => {
  await tx`set local search_path = ''`
  const rows = await tx.unsafe(violations).values()
  return rows.map(([name]) => name).sort()
}

/** What breaks the rule now, or after `breach`; the database stays as it is. */
const violationsOf = async (sql: postgres.Sql, { violations, breach }: Rule, broken: boolean): Promise<unknown[]> => {
  let found: unknown[] = []
  await sql
    .begin(async (tx) => {
      if (broken) await tx.unsafe(breach)
      found = await find(tx, violations)
      throw takeBack
    })
    .catch((error: unknown) => {
      if (error !== takeBack) throw error
    })
  return found
}

export function describeRules(name: string, database: Database, rules: readonly Rule[]): void {
  describe(name, () => {
    for (const rule of rules) {
      it(rule.title, async () => {
        expect(await violationsOf(database(), rule, false)).toEqual([])
      })
    }
  })
  describe(`${name}: a breach is noticed`, () => {
    for (const rule of rules) {
      it(rule.title, async () => {
        expect(await violationsOf(database(), rule, true)).not.toEqual([])
      })
    }
  })
}
