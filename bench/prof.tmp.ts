import { ordersToShip, confirmationCall } from './datasets/orders_to_ship.ts'
import { startRig } from './rig/rig.ts'
import { Undo } from './rig/undo.ts'
import { makeLog } from '../stack/log.ts'
import { connect } from '../stack/database.ts'
const undo = new Undo()
const n = Number(process.argv[2] ?? 5000)
try {
  const rig = await startRig(makeLog('error','x'), undo)
  const l = await rig.lading(ordersToShip('prof', n))
  const sql = connect(l.authenticatorUrl)
  const owner = connect(l.ownerUrl)
  await owner.unsafe('analyze')
  let t = performance.now()
  await sql.unsafe('set track_functions = all').catch((e) => console.log(e.message))
  for (const o of l.facts.orders.slice(0, 600)) { const c = confirmationCall(l.facts, o); await sql.unsafe(c.text, c.parameters as never, { prepare: true }) }
  console.log('ms per call', (performance.now() - t) / 600)
  await sql.end()
  await new Promise((r) => setTimeout(r, 500))
  console.table([...(await owner`select funcname, calls, round(self_time::numeric,1) as self, round(total_time::numeric,1) as total from pg_stat_user_functions order by self_time desc limit 22`)])
  console.table([...(await owner`select relname, seq_scan, seq_tup_read, idx_scan, n_live_tup from pg_stat_user_tables where seq_tup_read > 0 order by seq_tup_read desc limit 15`)])
  await owner.end()
} finally { await undo.all() }
