import type { Context, SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda'
import * as v from 'valibot'
import { delayRetry } from '../../shared/aws/delay-retry.ts'
import { notifyTreeQueue, TreeMessage } from '../../shared/community/growth/queue.ts'
import { growTree } from '../../shared/community/growth/run.ts'
import { consumedUnits, resetConsumedUnits } from '../../shared/db/consumed-units.ts'
import { restOnTheHour } from '../../shared/db/rest.ts'
import { countFailure } from '../../shared/faults.ts'
import { runInvocation } from '../../shared/invocation.ts'
import { errorSummary, log } from '../../shared/log.ts'

/** Time that is kept free to complete the transaction under way and to send messages. */
const reserveMilliseconds = 5_000

/** Time kept free to delay the retry of a tree after its hanging calls have been ended. */
const hangingReserveMilliseconds = 2_000

/** Longest pause before a failed tree is tried again: the queue's visibility timeout. */
const maxRetryDelaySeconds = 180

const Body = v.pipe(v.string(), v.parseJson(), TreeMessage)

restOnTheHour()

/**
 * Adds the journals of referral trees to all ancestors. A message only names a tree; the new members and
 * purchases are in the tree's journal. So one run serves all messages of a tree, and an extra message does
 * nothing.
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
      // The queue moves the message to its dead letters. Its body may hold anything, so it is not logged.
      log.warn('a message names no tree', { message_id: message.messageId })
      failures.push({ itemIdentifier: message.messageId })
    }
  }
  let treesLeft = messagesByTree.size
  for (const [rootId, messages] of messagesByTree) {
    // Then the other trees have their turn, and another message continues this tree.
    const deadline = Date.now() + (end - Date.now()) / treesLeft
    treesLeft -= 1
    try {
      await runInvocation(context, hangingReserveMilliseconds, () => takeTurn(rootId, deadline))
    } catch (error) {
      log.warn('tree will be retried', { root_id: rootId, cause: errorSummary(error) })
      countFailure(error)
      // All messages of one tree fail together, which keeps the order of the FIFO queue.
      failures.push(...messages.map(({ messageId }) => ({ itemIdentifier: messageId })))
      await Promise.all(messages.map((message) => delayRetry(message, maxRetryDelaySeconds)))
    }
  }
  return { batchItemFailures: failures }
}

/** Works at a tree until its journal is empty or the deadline has come, when a new message continues it. */
async function takeTurn(rootId: number, deadline: number): Promise<void> {
  const startedAt = performance.now()
  resetConsumedUnits()
  const outcome = await growTree(rootId, deadline)
  // A message that failed instead would block the tree until its visibility timeout ends.
  if (outcome === 'unfinished') await notifyTreeQueue(rootId)
  log.info('tree propagated', {
    root_id: rootId,
    outcome,
    duration_ms: Math.round(performance.now() - startedAt),
    ...consumedUnits(),
  })
}
