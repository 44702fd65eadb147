import { expect, test } from 'vitest'
import { startLading } from '../harness/lading.ts'

const lading = await startLading()

const views = [
  'api_keys',
  'application_keys',
  'enum_values',
  'inventory_quantities',
  'shipment_package_items',
  'table_columns',
]

test.each(views)('%s is read only: 403 to a key without the grant, refused to the owner too', async (view) => {
  expect(await lading.operator.delete(`/${view}`)).toMatchObject({ status: 403, body: { code: '42501' } })
  // a trigger on each row speaks where there is one
  await lading.sql`select * from internal.issue_key('operator', 'one', null)`
  await lading.addBusiness('one more')
  const [row] = await lading.sql`select exists (select from ${lading.sql(`api.${view}`)}) as is_there`
  const removal = lading.sql`delete from ${lading.sql(`api.${view}`)}`
  if (row?.is_there) await expect(removal).rejects.toMatchObject({ code: 'PT405', message: `${view} is read only` })
  else expect((await removal).count).toBe(0)
})
