import { TransactionCanceledException } from '@aws-sdk/client-dynamodb'
import { afterEach, expect, it, vi } from 'vitest'
import { db } from '../../../shared/db/table.ts'
import { ConditionFailed, putNew, transact } from '../../../shared/db/write.ts'

// DynamoDB Local never cancels a transaction for a conflict or throttling, so its answer is mocked.
const cancelled = (...codes: string[]) => cancelledAfter(1, ...codes)

const cancelledAfter = (attempts: number, ...codes: string[]) =>
  new TransactionCanceledException({
    $metadata: { attempts },
    message: 'cancelled',
    CancellationReasons: codes.map((Code) => ({ Code })),
  })

const cancelWith = (error: Error) => () => {
  throw error
}

afterEach(() => {
  vi.restoreAllMocks()
})

it.each([['TransactionConflict'], ['ThrottlingError'], ['ProvisionedThroughputExceeded']])(
  'transact retries after the cancellation reason %s',
  async (code) => {
    const send = vi.spyOn(db, 'send')
    send.mockImplementationOnce(cancelWith(cancelled('None', code)))
    send.mockImplementationOnce(() => undefined)
    await transact([])
    expect(send).toHaveBeenCalledTimes(2)
  },
)

it.each([
  [1, false],
  [2, true],
])(
  'transact keeps its idempotency token only if the SDK repeated the call (attempts: %i, same: %s)',
  async (attempts, isSame) => {
    const send = vi.spyOn(db, 'send')
    send.mockImplementationOnce(cancelWith(cancelledAfter(attempts, 'TransactionConflict')))
    send.mockImplementationOnce(cancelWith(cancelled('TransactionConflict')))
    send.mockImplementationOnce(() => undefined)
    await transact([])
    const tokens = send.mock.calls.map(
      ([{ input }]) => (input as { ClientRequestToken?: string }).ClientRequestToken,
    )
    expect(new Set(tokens).size).toBe(isSame ? 1 : 3)
  },
)

it('transact does not retry a failed condition, even if there is also a conflict', async () => {
  const send = vi.spyOn(db, 'send')
  send.mockImplementation(cancelWith(cancelled('ConditionalCheckFailed', 'TransactionConflict')))
  const writes = [putNew({ pk: 'a', sk: 'a' }), putNew({ pk: 'b', sk: 'b' })]
  const failure: unknown = await transact(writes).catch((error: unknown) => error)
  expect(failure).toBeInstanceOf(ConditionFailed)
  expect(send).toHaveBeenCalledTimes(1)
})

it('transact does not retry an invalid transaction', async () => {
  const send = vi.spyOn(db, 'send')
  send.mockImplementation(cancelWith(cancelled('ValidationError')))
  await expect(transact([])).rejects.toBeInstanceOf(TransactionCanceledException)
  expect(send).toHaveBeenCalledTimes(1)
})
