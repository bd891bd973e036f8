import type { Quirks } from '../../quirks.ts'
import { AwsError } from '../wire/http-messages.ts'

const conflictProbability = 0.1
const throttleProbability = 0.01

/**
 * Refuses writes and transactions at random, as if another transaction were using the item (Amazon DynamoDB:
 * Transaction conflict handling). Cancels some transactions with a throttling error instead.
 */
export function refuseForConflict(
  quirks: Quirks,
  stream: string,
  operation: string,
  countItems: () => number,
): void {
  if (operation === 'TransactWriteItems') {
    const share = () => quirks.draw('conflicts', `${stream} item`)
    if (quirks.happens('conflicts', stream, conflictProbability))
      cancel(countItems(), share(), 'TransactionConflict', 'Transaction is ongoing for the item')
    if (quirks.happens('throttles', stream, throttleProbability))
      cancel(
        countItems(),
        share(),
        'ThrottlingError',
        'Throughput exceeds the current capacity of your table.',
      )
  } else if (singleWrites.has(operation) && quirks.happens('conflicts', stream, conflictProbability)) {
    throw new AwsError('TransactionConflictException', 'Transaction is ongoing for the item')
  }
}

const singleWrites = new Set(['PutItem', 'UpdateItem', 'DeleteItem'])

/**
 * Cancels a transaction because of one item. `share` (from 0 up to, but not including, 1) selects this item
 * by its position: with 0.5, the item in the middle.
 */
function cancel(items: number, share: number, code: string, message: string): never {
  const item = Math.floor(share * items)
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
