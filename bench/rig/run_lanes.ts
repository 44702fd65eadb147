import type { LoadResult } from './load.ts'

/** Lanes run side by side, each one thing at a time: again and again until the time is up, or each thing once. */
export async function runLanes<Thing>(
  lanes: Thing[][],
  milliseconds: number | undefined,
  perform: (thing: Thing, lane: number) => Promise<unknown>,
): Promise<LoadResult> {
  const started = performance.now()
  const isOver = (count: number, lane: Thing[]): boolean =>
    milliseconds === undefined ? count >= lane.length : performance.now() - started >= milliseconds
  let done = 0
  await Promise.all(
    lanes.map(async (lane, number) => {
      for (let count = 0; !isOver(count, lane); count += 1) {
        const thing = lane[count % lane.length]
        if (thing === undefined) throw new Error('a lane has nothing to do')
        await perform(thing, number)
        done += 1
      }
    }),
  )
  return { done, milliseconds: performance.now() - started }
}
