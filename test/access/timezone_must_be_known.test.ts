import { expect, test } from 'vitest'
import { startLading } from '../harness/lading.ts'

const lading = await startLading()
const path = `/businesses?id=eq.${lading.a.id}`

test.each(['UTC', 'America/New_York', null])('%s is taken', async (timezone_id) => {
  const answer = await lading.a.rest.patch(path, { timezone_id }, { Prefer: 'return=representation' })
  expect(answer).toMatchObject({ status: 200, body: [{ timezone_id }] })
})

test.each(['', 'Europe/Atlantis', 'utc+1', '+02:00'])('"%s" is no name of a time zone: 400', async (timezone_id) => {
  const message = `timezone_id: no time zone "${timezone_id}"`
  expect(await lading.a.rest.patch(path, { timezone_id })).toMatchObject({ status: 400, body: { message } })
  expect(await lading.operator.post('/businesses', { name: 'New', timezone_id })).toMatchObject({
    status: 400,
    body: { message },
  })
})
