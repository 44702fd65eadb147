interface Waiting<Item, Result> {
  item: Item
  resolve(result: Result): void
  reject(error: unknown): void
}

/**
 * Makes one call of many: what is asked for while an earlier call runs is gathered and asked for together. When a call of
 * several fails each is made alone, so that one does not spoil the others.
 */
export function inBatches<Item, Result>(
  most: number,
  call: (items: Item[]) => Promise<Result[]>,
): (item: Item) => Promise<Result> {
  const waiting: Waiting<Item, Result>[] = []
  let isRunning = false

  const settle = async (batch: Waiting<Item, Result>[]): Promise<void> => {
    try {
      const results = await call(batch.map(({ item }) => item))
      for (const [index, { resolve }] of batch.entries()) resolve(results[index] as Result)
    } catch (error) {
      const [only] = batch
      if (batch.length === 1) only?.reject(error)
      else for (const one of batch) await settle([one])
    }
  }

  const run = async (): Promise<void> => {
    isRunning = true
    // Jobs that have just been handed out ask within the same turn.
    await new Promise(setImmediate)
    while (waiting.length > 0) await settle(waiting.splice(0, most))
    isRunning = false
  }

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject })
      if (!isRunning) void run()
    })
}
