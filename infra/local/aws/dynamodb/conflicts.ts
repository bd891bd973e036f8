import type { Manners } from '../../manners.ts'
import { AwsError } from '../wire/http-messages.ts'

const conflictProbability = 0.1
const throttleProbability = 0.01

/**
 * Refuses some of the writes and transactions as DynamoDB does while another transaction is at work on the
 * item (Amazon DynamoDB: Transaction conflict handling). A throttled transaction fails in the same way.
 */
export function refuseForConflict(manners: Manners, stream: string, operation: string, items: number): void {
  if (operation === 'TransactWriteItems') {
    const item = Math.floor(manners.draw('conflicts', `${stream} item`) * items)
    if (manners.happens('conflicts', stream, conflictProbability))
      cancel(items, item, 'TransactionConflict', 'Transaction is ongoing for the item')
    if (manners.happens('throttles', stream, throttleProbability))
      cancel(items, item, 'ThrottlingError', 'Throughput exceeds the current capacity of your table.')
  } else if (singleWrites.has(operation) && manners.happens('conflicts', stream, conflictProbability)) {
    throw new AwsError('TransactionConflictException', 'Transaction is ongoing for the item')
  }
}

const singleWrites = new Set(['PutItem', 'UpdateItem', 'DeleteItem'])

/** Throws the cancellation of a transaction for the sake of one of its items. */
function cancel(items: number, item: number, code: string, message: string): never {
  const reasons = Array.from({ length: items }, (_, i) =>
    i === item ? { Code: code, Message: message } : { Code: 'None' },
  )
  const codes = reasons.map(({ Code }) => Code).join(', ')
  throw new AwsError(
    'TransactionCanceledException',
    `Transaction cancelled, please refer cancellation reasons for specific reasons [${codes}]`,
    { members: { CancellationReasons: reasons } },
  )
}
