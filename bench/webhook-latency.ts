import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'undici'
import { connect } from '../stack/database.ts'
import { makeLog } from '../stack/log.ts'
import { startWorkerProgram } from '../stack/programs.ts'
import { readSettings } from '../stack/settings.ts'
import { oneConsumer } from './datasets/one_consumer.ts'
import type { Entry } from './rig/entry.ts'
import { sideBySide } from './rig/side_by_side.ts'

const ROUNDS = 5
const SAMPLES = 40
const PAUSE_MILLISECONDS = 25
const CHANNEL = 'bench_webhook_latency'

interface Arrivals {
  url: string
  next(): Promise<number>
  stop(): void
}

/** A consumer that tells when a request has arrived. */
async function startArrivals(): Promise<Arrivals> {
  const waiting: ((time: number) => void)[] = []
  const server = createServer((request, response) => {
    const time = performance.now()
    request.resume().once('end', () => {
      response.end('{}')
      waiting.shift()?.(time)
    })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    next: () => new Promise((resolve) => waiting.push(resolve)),
    stop: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

const p95 = (figures: number[]): number => figures.toSorted((a, b) => a - b)[Math.floor(0.95 * figures.length)] ?? 0

const sampled = async (arrivals: Arrivals, act: (sample: number) => Promise<unknown>): Promise<number> => {
  const figures: number[] = []
  for (let sample = 0; sample < SAMPLES; sample += 1) {
    const arrived = arrivals.next()
    await act(sample)
    const committed = performance.now()
    figures.push(Math.max(0, (await arrived) - committed))
    await sleep(PAUSE_MILLISECONDS)
  }
  return p95(figures)
}

const entry: Entry = {
  goal: { atMost: 5 },
  measure: async (rig) => {
    const arrivals = await startArrivals()
    const { ownerUrl, facts } = await rig.lading(oneConsumer(arrivals.url))
    const sql = connect(ownerUrl, 2)
    const worker = await startWorkerProgram(readSettings({ LOG_LEVEL: 'error' }), ownerUrl, makeLog('error', 'bench'))
    const client = new Client(arrivals.url)
    const listening = await sql.listen(CHANNEL, () => {
      void client
        .request({ method: 'POST', path: '/', headers: { 'content-type': 'application/json' }, body: '{}' })
        .then(({ body }) => body.dump())
    })
    try {
      const figures = await sideBySide(ROUNDS, {
        ours: (round) =>
          sampled(
            arrivals,
            (sample) => sql`
              insert into api.shipments (business_id, shipment_number)
              values (${facts.businessId}, ${`SHP-${round}-${sample}`})`,
          ),
        reference: () => sampled(arrivals, () => sql.notify(CHANNEL, '')),
      })
      return [{ unit: 'ms', ...figures, conditions: { figure: 'p95', 'samples a round': SAMPLES } }]
    } finally {
      await listening.unlisten()
      await worker.stop()
      await client.close()
      await sql.end({ timeout: 1 })
      arrivals.stop()
    }
  },
}

export default entry
