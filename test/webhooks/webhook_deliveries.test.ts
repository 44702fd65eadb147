import { expect, test } from 'vitest'
import { startLading } from '../harness/lading.ts'
import { makeSamples } from '../resources/samples.ts'

const lading = await startLading()
const { rows } = await makeSamples(lading, lading.a)

test.each(['webhook_deliveries', 'webhook_delivery_attempts'])(
  '%s are read by their business and changed by no key',
  async (resource) => {
    const path = `/${resource}?id=eq.${rows[resource]?.id}`
    for (const rest of [lading.a.rest, lading.operator]) {
      expect((await rest.get<unknown[]>(path)).body).toHaveLength(1)
      expect((await rest.patch(path, { error: 'x' })).status).toBe(403)
      expect((await rest.delete(path)).status).toBe(403)
      expect((await rest.post(`/${resource}`, { business_id: lading.a.id })).status).toBe(403)
    }
  },
)
