import { expect, test } from 'vitest'
import { startLading } from '../harness/lading.ts'

const lading = await startLading()
const one = '/white_label?id=not.is.null'

test('every business reads the one row', async () => {
  const { status, body } = await lading.a.rest.get('/white_label?select=name,title')
  expect(status).toBe(200)
  expect(body).toEqual([{ name: 'Lading', title: 'Lading' }])
})

test('operators change it', async () => {
  const theme = { primary: '#123456' }
  const answer = await lading.operator.patch(one, { title: 'Dock', theme }, { Prefer: 'return=representation' })
  expect(answer).toMatchObject({ status: 200, body: [{ title: 'Dock', theme }] })
  expect((await lading.b.rest.get('/white_label?select=title')).body).toEqual([{ title: 'Dock' }])
})

test('a business does not: 403; nobody adds or removes one', async () => {
  expect((await lading.a.rest.patch(one, { title: 'Mine' })).status).toBe(403)
  for (const rest of [lading.a.rest, lading.operator]) {
    expect((await rest.post('/white_label', { name: 'Second' })).status).toBe(403)
    expect((await rest.delete(one)).status).toBe(403)
  }
  await expect(lading.sql`insert into api.white_label (name) values ('Second')`).rejects.toMatchObject({
    code: '23505',
  })
})

test('its names are short and its theme is an object: 400', async () => {
  expect((await lading.operator.patch(one, { name: 'x'.repeat(256) })).status).toBe(400)
  expect((await lading.operator.patch(one, { theme: ['dark'] })).status).toBe(400)
})
