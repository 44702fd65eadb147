import { ordersToShip, confirmationCall } from './datasets/orders_to_ship.ts'
import { startRig } from './rig/rig_prof.tmp.ts'
import { Undo } from './rig/undo.ts'
import { makeLog } from '../stack/log.ts'
import { connect } from '../stack/database.ts'
const undo = new Undo()
try {
  const rig = await startRig(makeLog('error','x'), undo)
  const l = await rig.lading(ordersToShip('prof', 6000))
  let at = 0
  for (const [name, settings] of [['default',''],['generic',`set plan_cache_mode = force_generic_plan`],['jit off','set jit = off'],['both','set jit=off; set plan_cache_mode=force_generic_plan'],['default',''],['generic',`set plan_cache_mode = force_generic_plan`]] as const) {
    const sql = connect(l.authenticatorUrl)
    if (settings) await sql.unsafe(settings)
    const run = async (n: number) => { for (const o of l.facts.orders.slice(at, at + n)) { const c = confirmationCall(l.facts, o); await sql.unsafe(c.text, c.parameters as never, { prepare: true }) } ; at += n }
    await run(50)
    const t = performance.now(); await run(400)
    console.log(name, ((performance.now() - t) / 400).toFixed(2))
    await sql.end()
  }
} finally { await undo.all() }
