import { parseArgs } from 'node:util'
import { runCommand, UsageError } from '../../stack/command.ts'
import { endWithSignals } from '../../stack/end_with_signals.ts'
import { makeLog } from '../../stack/log.ts'
import { watchParent } from '../../stack/watch_parent.ts'
import { loadText, readConditions } from './conditions.ts'
import { chooseEntries, loadEntry } from './entries.ts'
import { type Line, lineOf, tableOf } from './report.ts'
import { startRig } from './rig.ts'
import { Undo } from './undo.ts'

const readArguments = (): { json: boolean; only: string[] | undefined } => {
  try {
    const { values } = parseArgs({
      options: { json: { type: 'boolean', default: false }, only: { type: 'string', multiple: true } },
    })
    return { json: values.json, only: values.only }
  } catch (error) {
    throw new UsageError(
      `${error instanceof Error ? error.message : error}\nUsage: npm run bench -- [--json] [--only NAME]…`,
    )
  }
}

await runCommand(async () => {
  const { json, only } = readArguments()
  const names = await chooseEntries(only)
  const log = makeLog('error', 'bench')
  const undo = new Undo()
  watchParent(endWithSignals(() => undo.all(), log))
  const say = (text: string) => process.stderr.write(`${text}\n`)
  const loadBefore = loadText()
  try {
    const rig = await startRig(log, undo)
    const conditions = await readConditions(rig.maintenanceUrl, loadBefore)
    const lines: Line[] = []
    for (const name of names) {
      const started = performance.now()
      const entry = await loadEntry(name)
      const measurements = await entry.measure(rig)
      lines.push(...measurements.map((measurement) => lineOf(name, entry.goal, measurement)))
      say(`measured ${name} in ${((performance.now() - started) / 1_000).toFixed(1)} s`)
    }
    const report = { lines, conditions }
    console.log(json ? JSON.stringify(report, null, 2) : tableOf(report))
  } finally {
    await undo.all()
  }
})
