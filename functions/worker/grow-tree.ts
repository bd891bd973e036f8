import type { Context, SQSBatchResponse, SQSEvent } from 'aws-lambda'
import * as v from 'valibot'
import { isUnavailable } from '../../shared/aws/unavailable.ts'
import { TreeMessage } from '../../shared/community/tree-journal.ts'
import { propagateToAncestors } from '../../shared/community/propagate-to-ancestors.ts'
import { consumedUnits, resetConsumedUnits } from '../../shared/db/consumed-units.ts'
import { emitFault } from '../../shared/emit-fault.ts'
import { errorSummary, log } from '../../shared/log.ts'

/** Time left for a transaction under way when the function stops beginning new ones. */
const reserveMilliseconds = 5_000

/**
 * Carries what happened in trees up to all ancestors. Messages only say in which trees; what happened stands
 * in their journals, so one run serves all messages of a tree, and a message too many does nothing.
 */
export async function handler(event: SQSEvent, context: Context): Promise<SQSBatchResponse> {
  log.resetKeys()
  log.appendKeys({ request_id: context.awsRequestId })
  const deadline = Date.now() + context.getRemainingTimeInMillis() - reserveMilliseconds
  const trees = Map.groupBy(
    event.Records,
    ({ body }) => v.parse(v.pipe(v.string(), v.parseJson(), TreeMessage), body).root_id,
  )
  const failed: SQSBatchResponse['batchItemFailures'] = []
  for (const [rootId, messages] of trees) {
    const startedAt = performance.now()
    resetConsumedUnits()
    try {
      await propagateToAncestors(rootId, deadline)
      log.info('tree grown', {
        root_id: rootId,
        messages: messages.length,
        duration_ms: Math.round(performance.now() - startedAt),
        ...consumedUnits(),
      })
    } catch (error) {
      log.warn('tree will be retried', { root_id: rootId, cause: errorSummary(error) })
      if (!isUnavailable(error)) emitFault()
      // All messages of the group, so that none of them overtakes another.
      failed.push(...messages.map(({ messageId }) => ({ itemIdentifier: messageId })))
    }
  }
  return { batchItemFailures: failed }
}
