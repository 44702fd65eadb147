import { expect, test } from 'vitest'
import { startLading } from '../harness/lading.ts'

const lading = await startLading()

test.each([
  ['USD', '840', 2],
  ['EUR', '978', 2],
  ['JPY', '392', 0],
  ['KWD', '414', 3],
  ['ALL', '008', 2],
  ['XAU', '959', null],
])('%s is %s with %s decimal places', async (alphabetic_code, numeric_code, minor_unit) => {
  const { body } = await lading.a.rest.get(`/currencies?alphabetic_code=eq.${alphabetic_code}`)
  expect(body).toMatchObject([{ alphabetic_code, numeric_code, minor_unit, name: expect.stringMatching(/\w/) }])
})

test('all of ISO 4217 are there', async () => {
  const { body } = await lading.a.rest.get<unknown[]>('/currencies')
  expect(body.length).toBeGreaterThanOrEqual(170)
})

test('nobody changes them: 403', async () => {
  for (const rest of [lading.a.rest, lading.operator]) {
    const added = { alphabetic_code: 'ABC', numeric_code: '000', name: 'A' }
    expect((await rest.post('/currencies', added)).status).toBe(403)
    expect((await rest.patch('/currencies?alphabetic_code=eq.EUR', { name: 'A' })).status).toBe(403)
    expect((await rest.delete('/currencies?alphabetic_code=eq.EUR')).status).toBe(403)
  }
})
