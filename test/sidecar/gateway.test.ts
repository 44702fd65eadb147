import { expect, test } from 'vitest'
import { startLading } from '../harness/lading.ts'

const lading = await startLading()

test('a business key sees its own business only', async () => {
  const answer = await lading.a.rest.get('/businesses?select=id')
  expect(answer).toMatchObject({ status: 200, body: [{ id: lading.a.id }] })
})
