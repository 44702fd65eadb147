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
const MOST_CLAIMED = 128
/** Answers that are being recorded. */
const MOST_RECORDING = 2 * MOST_CLAIMED

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

export interface Drain {
  /** Settles when nothing is due any more and all that was sent is recorded. */
  ended: Promise<void>
  /** Something more is due. False when the drain is about to end and will not find it. */
  wake(): boolean
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

  return (configurationId: string): Drain => {
    const waiting: Waiting[] = []
    const aborted: ClaimedDelivery[] = []
    const objectsUnderWay = new Set<string>()
    const underWay = new Set<Promise<void>>()
    const recording = new Set<Promise<void>>()
    let atOnce = FEWEST_AT_ONCE
    let mayBeMore = true
    let isWoken = false
    let isEnding = false
    let changed = (): void => undefined
    const nextChange = () =>
      new Promise<void>((resolve) => {
        changed = resolve
      })

    const record = inBatches<Recorded, void>(MOST_CLAIMED, async (recorded) => {
      await sql`
        select internal.record_attempts(
          ${recorded.map(({ delivery }) => delivery.id)}::uuid[], ${recorded.map(({ delivery }) => delivery.token)}::bigint[],
          ${recorded.map(({ attempt }) => JSON.stringify(attempt))}::text[]::jsonb[]
        )`
      return recorded.map(() => undefined)
    })

    const send = async (delivery: ClaimedDelivery): Promise<void> => {
      const begun = new Date()
      const request = signedRequest(delivery, begun)
      let outcome: Outcome
      try {
        outcome = await post(outbound, request, { milliseconds, answerBytes: ANSWER_BYTES, signal: stopping })
      } catch {
        aborted.push(delivery)
        return
      }
      const now = new Date()
      const attempt = attemptOf(request, outcome, now.getTime() - begun.getTime(), now)
      atOnce = attempt.error === null ? Math.min(2 * atOnce, MOST_AT_ONCE) : FEWEST_AT_ONCE
      const recorded = record({ delivery, attempt })
        .catch((error: unknown) =>
          log.error({ webhook_delivery_id: delivery.id, error: describeError(error) }, 'an attempt was not recorded'),
        )
        .finally(() => {
          recording.delete(recorded)
          changed()
        })
      recording.add(recorded)
    }

    const start = (next: Waiting): void => {
      const { object_id } = next.delivery
      objectsUnderWay.add(object_id)
      const sending = enter(() => send(next.delivery))
        .catch((error: unknown) => {
          aborted.push(next.delivery)
          log.error({ webhook_delivery_id: next.delivery.id, error: describeError(error) }, 'a delivery was not sent')
        })
        .finally(() => {
          objectsUnderWay.delete(object_id)
          underWay.delete(sending)
          changed()
        })
      underWay.add(sending)
    }

    const startThoseThatMay = (): void => {
      for (let index = 0; index < waiting.length && underWay.size < atOnce && recording.size < MOST_RECORDING; ) {
        const next = waiting[index]
        if (next === undefined || objectsUnderWay.has(next.delivery.object_id)) index += 1
        else {
          waiting.splice(index, 1)
          start(next)
        }
      }
    }

    const claimSize = () => (atOnce === MOST_AT_ONCE ? MOST_CLAIMED : 2 * atOnce)

    const claimMore = async (): Promise<void> => {
      isWoken = false
      const claimed = await claim(configurationId, claimSize())
      mayBeMore = claimed.length > 0 || isWoken
      const claimedAt = performance.now()
      waiting.push(...claimed.map((delivery) => ({ delivery, claimedAt })))
    }

    const giveBackWhatWaitedTooLong = async (): Promise<void> => {
      const [first] = waiting
      if (first === undefined || performance.now() - first.claimedAt < WAITING_MILLISECONDS) return
      await release(waiting.splice(0).map(({ delivery }) => delivery))
      mayBeMore = true
    }

    const deliverAll = async (): Promise<void> => {
      let claiming: Promise<void> | undefined
      let problem: unknown
      const isAtWork = () => claiming !== undefined || mayBeMore || waiting.length + underWay.size + recording.size > 0
      while (!stopping.aborted && problem === undefined && isAtWork()) {
        await giveBackWhatWaitedTooLong()
        if (mayBeMore && claiming === undefined && waiting.length <= claimSize() / 2) {
          claiming = claimMore()
            .catch((error: unknown) => {
              problem = error
            })
            .finally(() => {
              claiming = undefined
              changed()
            })
        }
        startThoseThatMay()
        if (claiming !== undefined || underWay.size + recording.size > 0) await nextChange()
      }
      isEnding = true
      await claiming
      await Promise.all(underWay)
      await Promise.all(recording)
      const back = [...aborted, ...waiting.map(({ delivery }) => delivery)]
      if (back.length > 0) await release(back)
      if (problem !== undefined) throw problem
      await queueNext(configurationId)
    }

    return {
      ended: deliverAll(),
      wake: () => {
        if (isEnding) return false
        isWoken = true
        mayBeMore = true
        changed()
        return true
      },
    }
  }
}
