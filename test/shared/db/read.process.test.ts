import { expect, it } from 'vitest'
import { alwaysBad } from '../../infra/local/aws/stack.ts'
import { useOwnEndpoint } from '../../support/own-endpoint.ts'

useOwnEndpoint(alwaysBad(['stale-reads'], 0.9))

it('an item that was written a moment ago is found although an eventually consistent read misses it', async () => {
  const { findItem, readItem } = await import('../../../shared/db/read.ts')
  const { writeItem } = await import('../../../shared/db/write.ts')
  const key = { pk: 'a', sk: 'a' }
  await writeItem({ Put: { Item: key } })
  expect(await readItem(key)).toBeUndefined()
  expect(await findItem(key)).toEqual(key)
  expect(await findItem({ pk: 'b', sk: 'b' })).toBeUndefined()
})
