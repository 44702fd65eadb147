import { expect, test } from 'vitest'
import { inBatches } from '../../worker/in_batches.ts'

test('what is asked for in one turn, or while a call runs, is asked for together, up to the limit', async () => {
  const calls: number[][] = []
  const double = inBatches<number, number>(3, (numbers) => {
    calls.push(numbers)
    return Promise.resolve(numbers.map((number) => 2 * number))
  })
  expect(await Promise.all([1, 2, 3, 4, 5].map(double))).toEqual([2, 4, 6, 8, 10])
  expect(await double(6)).toBe(12)
  expect(calls).toEqual([[1, 2, 3], [4, 5], [6]])
})

test('one that fails does not spoil the others', async () => {
  const check = inBatches<number, number>(10, (numbers) =>
    numbers.includes(2) ? Promise.reject(new Error('not 2')) : Promise.resolve(numbers),
  )
  const outcomes = await Promise.allSettled([1, 2, 3].map(check))
  expect(outcomes).toMatchObject([{ value: 1 }, { reason: { message: 'not 2' } }, { value: 3 }])
})
