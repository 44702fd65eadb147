import { setMaxListeners } from 'node:events'
import type { Agent } from 'undici'
import type { Sql } from '../../stack/database.ts'
import { describeError } from '../../stack/database_refusal.ts'
import type { Log } from '../../stack/log.ts'
import { inBatches } from '../in_batches.ts'
import { type Outcome, post } from '../outbound/post.ts'
import { ANSWER_BYTES, type Attempt, attemptOf } from './attempt.ts'
import { type ClaimedDelivery, signedRequest } from './signed_request.ts'

/** Requests at once to one consumer: few until it has proved to answer, and again after it has failed. */
const FEWEST_AT_ONCE = 2
const MOST_AT_ONCE = 16

/** What is claimed is sent within this time or given back. */
const WAITING_MILLISECONDS = 20_000
/** A claim outlives its request by this, so that nobody takes over what may still be recorded. */
const LEASE_MARGIN_MILLISECONDS = 30_000

interface Recorded {
  delivery: ClaimedDelivery
  attempt: Attempt
}

interface Waiting {
  delivery: ClaimedDelivery
  claimedAt: number
}

export interface DrainParts {
  sql: Sql
  outbound: Agent
  log: Log
  milliseconds: number
  enter: <Result>(work: () => Promise<Result>) => Promise<Result>
  stopping: AbortSignal
}

/**
 * Delivers all that is due of a configuration: claim, post with no transaction open, record. Events of one object go one
 * after the other. At its end the next run is queued for when something is due again.
 */
export function makeDrain({ sql, outbound, log, milliseconds, enter, stopping }: DrainParts) {
  setMaxListeners(0, stopping)
  const leaseSeconds = (WAITING_MILLISECONDS + milliseconds + LEASE_MARGIN_MILLISECONDS) / 1_000

  const claim = (configurationId: string, most: number): Promise<ClaimedDelivery[]> =>
    sql<ClaimedDelivery[]>`
      select delivery_id as id, lease_token as token, event_id, object_id, url, consumer_url, body, secrets
      from internal.claim_deliveries(${configurationId}, ${most}, make_interval(secs => ${leaseSeconds}))`

  const release = (deliveries: ClaimedDelivery[]) =>
    sql`
      select internal.release_deliveries(
        ${deliveries.map(({ id }) => id)}::uuid[], ${deliveries.map(({ token }) => token)}::bigint[]
      )`

  const queueNext = (configurationId: string) => sql`select internal.queue_next_deliveries(${configurationId})`

  return async (configurationId: string): Promise<void> => {
    const waiting: Waiting[] = []
    const unsent: ClaimedDelivery[] = []
    const objectsUnderWay = new Set<string>()
    const underWay = new Set<Promise<void>>()
    let atOnce = FEWEST_AT_ONCE
    let mayBeMore = true

    const record = inBatches<Recorded, void>(2 * MOST_AT_ONCE, async (recorded) => {
      await sql`
        select internal.record_attempt(id, token, attempt::jsonb)
        from unnest(
          ${recorded.map(({ delivery }) => delivery.id)}::uuid[], ${recorded.map(({ delivery }) => delivery.token)}::bigint[],
          ${recorded.map(({ attempt }) => JSON.stringify(attempt))}::text[]
        ) as recorded (id, token, attempt)`
      return recorded.map(() => undefined)
    })

    const send = async ({ delivery, claimedAt }: Waiting): Promise<void> => {
      if (stopping.aborted || performance.now() - claimedAt > WAITING_MILLISECONDS) {
        unsent.push(delivery)
        return
      }
      const begun = new Date()
      const request = signedRequest(delivery, begun)
      let outcome: Outcome
      try {
        outcome = await post(outbound, request, { milliseconds, answerBytes: ANSWER_BYTES, signal: stopping })
      } catch {
        unsent.push(delivery)
        return
      }
      const now = new Date()
      const attempt = attemptOf(request, outcome, now.getTime() - begun.getTime(), now)
      atOnce = attempt.error === null ? Math.min(2 * atOnce, MOST_AT_ONCE) : FEWEST_AT_ONCE
      await record({ delivery, attempt })
    }

    const start = (next: Waiting): void => {
      const { object_id } = next.delivery
      objectsUnderWay.add(object_id)
      const sending = enter(() => send(next))
        .catch((error: unknown) =>
          log.error(
            { webhook_delivery_id: next.delivery.id, error: describeError(error) },
            'an attempt was not recorded',
          ),
        )
        .finally(() => {
          objectsUnderWay.delete(object_id)
          underWay.delete(sending)
        })
      underWay.add(sending)
    }

    const startThoseThatMay = (): void => {
      for (let index = 0; index < waiting.length && underWay.size < atOnce; ) {
        const next = waiting[index]
        if (next === undefined || objectsUnderWay.has(next.delivery.object_id)) index += 1
        else {
          waiting.splice(index, 1)
          start(next)
        }
      }
    }

    try {
      for (;;) {
        if (stopping.aborted) break
        const wanted = 2 * atOnce - waiting.length - underWay.size
        if (mayBeMore && wanted > 0 && waiting.length < atOnce) {
          const claimed = await claim(configurationId, wanted)
          mayBeMore = claimed.length > 0
          const claimedAt = performance.now()
          waiting.push(...claimed.map((delivery) => ({ delivery, claimedAt })))
        }
        startThoseThatMay()
        if (underWay.size > 0) await Promise.race(underWay)
        else if (!mayBeMore) break
      }
    } finally {
      await Promise.all(underWay)
      const back = [...unsent, ...waiting.map(({ delivery }) => delivery)]
      if (back.length > 0) await release(back)
    }
    await queueNext(configurationId)
  }
}
