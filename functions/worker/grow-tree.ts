import type { Context, SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda'
import * as v from 'valibot'
import { delayRetry, growingPause } from '../../shared/aws/delay-retry.ts'
import { TreeMessage } from '../../shared/community/growth/queue.ts'
import { growTree } from '../../shared/community/growth/run.ts'
import { consumedUnits, resetConsumedUnits } from '../../shared/db/consumed-units.ts'
import { restOnTheHour } from '../../shared/db/rest.ts'
import { countFailure } from '../../shared/faults.ts'
import { runInvocation } from '../../shared/invocation.ts'
import { errorSummary, log } from '../../shared/log.ts'

/** Time reserved for completing the transaction under way and for returning messages to the queue. */
const reserveMilliseconds = 5_000

/** Time reserved for delaying a retry. runInvocation aborts AWS calls when only this time is left. */
const hangingReserveMilliseconds = 2_000

/** Longest delay of a retry after an error, in seconds: the queue's visibility timeout. */
const maxRetryDelaySeconds = 180

const Body = v.pipe(v.string(), v.parseJson(), TreeMessage)

restOnTheHour()

/**
 * Updates the ancestors of changed members in referral trees. A message names only the tree. The changes are
 * in that tree's journal, so an extra message does no harm.
 */
export async function handler(event: SQSEvent, context: Context): Promise<SQSBatchResponse> {
  log.resetKeys()
  log.appendKeys({ request_id: context.awsRequestId })
  const end = Date.now() + context.getRemainingTimeInMillis() - reserveMilliseconds
  const failures: SQSBatchResponse['batchItemFailures'] = []
  const messagesByTree = new Map<number, SQSRecord[]>()
  for (const message of event.Records) {
    const read = v.safeParse(Body, message.body)
    if (read.success) {
      const { root_id: rootId } = read.output
      messagesByTree.set(rootId, [...(messagesByTree.get(rootId) ?? []), message])
    } else {
      // The log omits the body, which may contain anything. SQS delivers the message again at once, and after
      // too many deliveries moves it to the dead-letter queue.
      log.warn('a message names no tree', { message_id: message.messageId })
      failures.push({ itemIdentifier: message.messageId })
      await delayRetry(message, 0)
    }
  }
  let treesLeft = messagesByTree.size
  for (const [rootId, messages] of messagesByTree) {
    const deadline = Date.now() + (end - Date.now()) / treesLeft
    treesLeft -= 1
    const turn = () => takeTurn(rootId, deadline)
    // If journal entries are left, SQS delivers the messages again. The worker could instead send itself a
    // message, but Lambda stops such loops after 16 rounds (developer guide, "recursive loop detection").
    let hasFailed = false
    try {
      if ((await runInvocation(context, hangingReserveMilliseconds, turn)) === 'finished') continue
    } catch (error) {
      log.warn('tree will be retried', { root_id: rootId, cause: errorSummary(error) })
      countFailure(error)
      hasFailed = true
    }
    failures.push(...messages.map(({ messageId }) => ({ itemIdentifier: messageId })))
    const pauseOf = (message: SQSRecord) => (hasFailed ? growingPause(message, maxRetryDelaySeconds) : 0)
    await Promise.all(messages.map((message) => delayRetry(message, pauseOf(message))))
  }
  return { batchItemFailures: failures }
}

/** Processes the journal of a referral tree until the journal is empty or the deadline has passed. */
async function takeTurn(rootId: number, deadline: number): ReturnType<typeof growTree> {
  const startedAt = Date.now()
  resetConsumedUnits()
  const outcome = await growTree(rootId, deadline)
  log.info('tree propagated', {
    root_id: rootId,
    outcome,
    duration_ms: Date.now() - startedAt,
    ...consumedUnits(),
  })
  return outcome
}
