import type { Context, SQSBatchResponse, SQSEvent } from 'aws-lambda'
import * as v from 'valibot'
import { propagateToAncestors } from '../../shared/community/propagate-to-ancestors.ts'
import { TreeMessage } from '../../shared/community/tree-journal.ts'
import { consumedUnits, resetConsumedUnits } from '../../shared/db/consumed-units.ts'
import { countFailure } from '../../shared/faults.ts'
import { errorSummary, log } from '../../shared/log.ts'

/** Time that must be left to start another batch, so that the current one can complete. */
const reserveMilliseconds = 5_000

/**
 * Propagates the journals of referral trees to all ancestors. A message only names a tree; the new members
 * and purchases are in the tree's journal. So one run serves all messages of a tree, and an extra message
 * does nothing.
 */
export async function handler(event: SQSEvent, context: Context): Promise<SQSBatchResponse> {
  log.resetKeys()
  log.appendKeys({ request_id: context.awsRequestId })
  const deadline = Date.now() + context.getRemainingTimeInMillis() - reserveMilliseconds
  const messagesByTree = Map.groupBy(
    event.Records,
    ({ body }) => v.parse(v.pipe(v.string(), v.parseJson(), TreeMessage), body).root_id,
  )
  const failures: SQSBatchResponse['batchItemFailures'] = []
  for (const [rootId, messages] of messagesByTree) {
    const startedAt = performance.now()
    resetConsumedUnits()
    try {
      await propagateToAncestors(rootId, deadline)
      log.info('tree propagated', {
        root_id: rootId,
        messages: messages.length,
        duration_ms: Math.round(performance.now() - startedAt),
        ...consumedUnits(),
      })
    } catch (error) {
      log.warn('tree will be retried', { root_id: rootId, cause: errorSummary(error) })
      countFailure(error)
      // All messages of one tree fail together, which keeps the order of the FIFO queue.
      failures.push(...messages.map(({ messageId }) => ({ itemIdentifier: messageId })))
    }
  }
  return { batchItemFailures: failures }
}
