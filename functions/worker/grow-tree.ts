import type { Context, SQSBatchResponse, SQSEvent } from 'aws-lambda'
import * as v from 'valibot'
import { delayRetry } from '../../shared/aws/delay-retry.ts'
import { propagateToAncestors } from '../../shared/community/propagate-to-ancestors.ts'
import { forgetMessage, notifyTreeQueue, TreeMessage } from '../../shared/community/tree-queue.ts'
import { consumedUnits, resetConsumedUnits } from '../../shared/db/consumed-units.ts'
import { countFailure } from '../../shared/faults.ts'
import { runInvocation } from '../../shared/invocation.ts'
import { errorSummary, log } from '../../shared/log.ts'

/** Time that is kept free to complete the transaction under way and to send messages. */
const reserveMilliseconds = 5_000

/** Time that is kept free after calls that hang have been ended, to delay the retry of their tree. */
const hangingReserveMilliseconds = 2_000

/** Longest time for one tree. Then the others have their turn, and the tree goes on with another message. */
const maxSliceMilliseconds = 5_000

/** Longest pause before a failed tree is tried again: the queue's visibility timeout. */
const maxRetryDelaySeconds = 180

const Body = v.pipe(v.string(), v.parseJson(), TreeMessage)

/**
 * Propagates the journals of referral trees to all ancestors. A message only names a tree; the new members
 * and purchases are in the tree's journal. So one run serves all messages of a tree, and an extra message
 * does nothing.
 */
export async function handler(event: SQSEvent, context: Context): Promise<SQSBatchResponse> {
  log.resetKeys()
  log.appendKeys({ request_id: context.awsRequestId })
  const end = Date.now() + context.getRemainingTimeInMillis() - reserveMilliseconds
  const received = event.Records.map((message) => ({ message, ...v.parse(Body, message.body) }))
  const messagesByTree = Map.groupBy(received, ({ root_id }) => root_id)
  const failures: SQSBatchResponse['batchItemFailures'] = []
  let treesLeft = messagesByTree.size
  for (const [rootId, ofTree] of messagesByTree) {
    const share = (end - Date.now()) / treesLeft
    treesLeft -= 1
    try {
      const deadline = Date.now() + Math.min(share, maxSliceMilliseconds)
      await runInvocation(context, hangingReserveMilliseconds, () =>
        growTree(rootId, [...new Set(ofTree.map(({ shard }) => shard))], deadline),
      )
    } catch (error) {
      log.warn('tree will be retried', { root_id: rootId, cause: errorSummary(error) })
      countFailure(error)
      // All messages of one tree fail together, which keeps the order of the FIFO queue.
      failures.push(...ofTree.map(({ message }) => ({ itemIdentifier: message.messageId })))
      await Promise.all(ofTree.map(({ message }) => delayRetry(message, maxRetryDelaySeconds)))
    }
  }
  return { batchItemFailures: failures }
}

/**
 * Propagates a tree until the shards of its journal are empty, or until the deadline; another message goes on
 * then. A tree that uses other shards than the first grows fast, so all of them are worked off together.
 */
async function growTree(rootId: number, shards: readonly number[], deadline: number): Promise<void> {
  const startedAt = performance.now()
  resetConsumedUnits()
  await Promise.all(shards.map((shard) => forgetMessage(rootId, shard)))
  const highest = Math.max(...shards)
  const outcome = await propagateToAncestors(rootId, deadline, highest === 0 ? 'first' : 'all')
  // A message that failed instead would block the tree until its visibility timeout ends.
  if (outcome === 'unfinished') await notifyTreeQueue(rootId, highest, { isRepeated: true })
  log.info('tree propagated', {
    root_id: rootId,
    outcome,
    duration_ms: Math.round(performance.now() - startedAt),
    ...consumedUnits(),
  })
}
