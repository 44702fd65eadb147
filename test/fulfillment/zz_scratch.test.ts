import { test } from 'vitest'
import { addItem, addLocation, addOrder, stock } from '../builders.ts'
import { startLading } from '../harness/lading.ts'
import { addFulfillment, statesOf, stockOf } from './scenario.ts'
const { a, sql } = await startLading()
test('x', async () => {
 const item = await addItem(a)
 let bad = 0
 for (let n = 0; n < 100; n++) {
  const location = await addLocation(a)
  await stock(a, item, location, 100)
  const order = await addOrder(a, { channel: null, lines: [{ item, quantity: 50 }] })
  const f = await addFulfillment(a, { order, location, lines: [{ item, quantity: 10 }] })
  const r = await Promise.allSettled([ a.rest.patch(`/fulfillment_line_items?fulfillment_id=eq.${f.id}`, { quantity: 20 }), a.rest.patch(`/fulfillments?id=eq.${f.id}`, { status: "OPEN" })])
  if (n < 0) await Promise.all([
     sql`update api.fulfillments set status='OPEN' where id=${f.id} returning status, xmin::text, pg_current_xact_id()::text as me`,
     sql`update api.fulfillment_line_items set quantity=20 where fulfillment_id=${f.id} returning quantity, xmin::text, pg_current_xact_id()::text as me`])
  const s = [await statesOf(a, order), await stockOf(a, item, location)].join()
  if (s !== 'OPEN 20,80/0' && s !== 'OPEN 10,90/0') {
   if (bad++ < 2) console.log(s, JSON.stringify(r.map((x) => x.status === 'fulfilled' ? x.value : String((x as any).reason))),
    await sql`select xmin::text, inventory_status, quantity, cause_type from api.inventory_adjustments where location_id=${location} order by id`,
    await sql`select xmin::text, * from internal.commitments where location_id=${location}`)
  }
 }
 console.log('bad', bad)
}, 60000)
