import { setTimeout as wait } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { readNewest, rowKey } from '../../../shared/db/numbered-list.ts'
import { queryFirst } from '../../../shared/db/read.ts'
import { writeItem } from '../../../shared/db/write.ts'
import { useMemoryTable } from '../../support/memory-table.ts'

const lags = new Map<string, number>()
/** How long a row stays hidden from reads: up to a second, chosen at random for each row. */
function lagOf(name: string): number {
  const lag = lags.get(name) ?? Math.random() * 1_000
  lags.set(name, lag)
  return lag
}
useMemoryTable(() => lagOf)

it('a page of the newest rows has no gaps, even if the first read misses some of the rows', async () => {
  const query = { KeyConditionExpression: 'pk = :list', ExpressionAttributeValues: { ':list': 'list' } }
  expect(await readNewest('list', 20)).toEqual({ rows: [], total: 0 })
  const numbers = Array.from({ length: 30 }, (_, i) => i + 1)
  await Promise.all(numbers.map((number) => writeItem({ Put: { Item: rowKey('list', number) } })))
  let [gaps, length] = [0, 0]
  while (length < numbers.length) {
    await wait(20)
    const arrived = await queryFirst(query, numbers.length)
    gaps += Number(arrived.length < Number(arrived.at(-1)?.['sk'] ?? 0))
    const { rows, total } = await readNewest('list', 20)
    const found = numbers.slice(Math.max(0, total - 20), total).toReversed()
    expect(rows).toEqual(found.map((number) => rowKey('list', number)))
    length = total
  }
  expect(gaps).toBeGreaterThan(0)
})
