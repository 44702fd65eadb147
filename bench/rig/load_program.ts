import { sendHttp } from './http_load.ts'
import type { Load, LoadAnswer, LoadResult } from './load.ts'
import { runSql } from './sql_load.ts'

// The load client, a process of its own so that the bench's own work takes nothing from either side.

async function run(load: Load): Promise<LoadResult> {
  return load.kind === 'http' ? await sendHttp(load) : await runSql(load)
}

const answer = (message: LoadAnswer): void => {
  process.send?.(message)
}

process.on('disconnect', () => process.exit())
process.on('message', (load: Load) => {
  run(load).then(
    (result) => answer({ result }),
    (error: unknown) => answer({ problem: error instanceof Error ? error.message : String(error) }),
  )
})
