import * as v from 'valibot'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { readItem } from '../../../../shared/db/read.ts'
import { transact, writeItem } from '../../../../shared/db/write.ts'
import { publicEndpoint } from '../../../../shared/http/endpoint.ts'
import { callEndpoint } from '../../../support/call-endpoint.ts'
import { emittedMetrics } from '../../../support/emitted-metrics.ts'
import { useMemoryTable } from '../../../support/memory-table.ts'
import { isWrite, tamperAttempts, writeError } from '../../../support/tamper-calls.ts'

useMemoryTable()

/** How many of the next writes are to fail because they conflict with a transaction. */
let conflicts = 0
let tampering: { restore: () => void } | undefined
beforeEach(() => {
  tampering = tamperAttempts(async ({ operation, input, perform }) => {
    if (!isWrite(operation) || (conflicts -= 1) < 0) return perform()
    throw writeError(operation, input, 'TransactionConflict')
  })
})
afterEach(() => tampering?.restore())

const key = { pk: 'a', sk: 'a' }
const increment = {
  Key: key,
  UpdateExpression: 'ADD #count :one',
  ExpressionAttributeNames: { '#count': 'count' },
  ExpressionAttributeValues: { ':one': 1 },
}
const writes: [string, () => Promise<unknown>][] = [
  ['PutItem', () => writeItem({ Put: { Item: { ...key, count: 0 } } })],
  ['UpdateItem', () => writeItem({ Update: increment })],
  ['TransactWriteItems', () => transact([{ Update: increment }])],
  ['DeleteItem', () => writeItem({ Delete: { Key: key } })],
]

it.each(writes)('%s is repeated until it succeeds after conflicts with transactions', async (name, write) => {
  conflicts = 10
  await write()
  expect(conflicts).toBeLessThan(0)
  const counts = { PutItem: '0', UpdateItem: '1', TransactWriteItems: '2', DeleteItem: undefined }
  const item = await readItem(key, { consistent: true })
  expect((item?.['count'] as { value: string } | undefined)?.value).toBe(counts[name as keyof typeof counts])
})

it.each(writes)(
  '%s that conflicts for too long is answered with 503 and Retry-After, which is no fault',
  async (_name, write) => {
    const handler = publicEndpoint({
      input: v.object({}),
      output: v.null(),
      async run() {
        await write()
        return null
      },
    })
    conflicts = Infinity
    vi.spyOn(Math, 'random').mockReturnValue(0)
    const metrics = await emittedMetrics(async () => {
      expect(await callEndpoint(handler, {})).toMatchObject({
        status: 503,
        code: 50300,
        headers: { 'retry-after': '1' },
      })
    })
    expect(metrics.map(({ name }) => name)).not.toContain('Faults')
  },
)
