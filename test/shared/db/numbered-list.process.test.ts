import { expect, it } from 'vitest'
import { alwaysBad } from '../../infra/local/aws/stack.ts'
import { useOwnEndpoint } from '../../support/own-endpoint.ts'

// Each row arrives after a time of its own, up to a second.
useOwnEndpoint({ ...alwaysBad(['stale-reads']), draw: Math.random })

it('the newest rows of a list are read without gaps, although some of them have not arrived', async () => {
  const { readNewest, rowKey } = await import('../../../shared/db/numbered-list.ts')
  const { queryFirst } = await import('../../../shared/db/read.ts')
  const { writeItem } = await import('../../../shared/db/write.ts')
  const query = { KeyConditionExpression: 'pk = :list', ExpressionAttributeValues: { ':list': 'list' } }
  expect(await readNewest('list', 20)).toEqual({ rows: [], total: 0 })
  const numbers = Array.from({ length: 30 }, (_, i) => i + 1)
  await Promise.all(numbers.map((number) => writeItem({ Put: { Item: rowKey('list', number) } })))
  let [gaps, length] = [0, 0]
  while (length < numbers.length) {
    const arrived = await queryFirst(query, numbers.length)
    gaps += Number(arrived.length < Number(arrived.at(-1)?.['sk'] ?? 0))
    const { rows, total } = await readNewest('list', 20)
    const found = numbers.slice(Math.max(0, total - 20), total).toReversed()
    expect(rows).toEqual(found.map((number) => rowKey('list', number)))
    length = total
  }
  expect(gaps).toBeGreaterThan(0)
})
