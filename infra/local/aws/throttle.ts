import type { Quirks } from '../quirks.ts'
import type { Caller } from './iam/callers.ts'
import { AwsError, type AwsRequest } from './wire/http-messages.ts'

const probability = 0.01

/**
 * Throws the service's own throttling error for some calls, at random. Never throttles the last attempt of an
 * AWS SDK (header `amz-sdk-request`), because the call would then fail as in an outage.
 */
export function throttle(quirks: Quirks, { arn }: Caller, { target, path, headers }: AwsRequest): void {
  const [, attempt = '1', max = '1'] =
    /attempt=(\d+); max=(\d+)/.exec(String(headers['amz-sdk-request'])) ?? []
  if (Number(attempt) >= Number(max)) return
  const operation = target.operation || path
  const error = errors[target.service]
  // A throttled transaction is cancelled with another error, which dynamodb/conflicts.ts imitates.
  if (error === undefined || operation === 'TransactWriteItems') return
  if (quirks.happens('throttles', `${arn} ${operation}`, probability)) throw new AwsError(...error)
}

/** The throttling error of each service, as its API reference names it. */
const errors: Record<string, ConstructorParameters<typeof AwsError>> = {
  DynamoDB_20120810: ['ProvisionedThroughputExceededException', 'The level of throughput was exceeded.'],
  AmazonSQS: [
    'RequestThrottled',
    'The request was denied due to request throttling.',
    { status: 403, queryCode: 'RequestThrottled' },
  ],
  TrentService: ['ThrottlingException', 'You call KMS too often.'],
  AWSEvents: ['ThrottlingException', 'Rate exceeded'],
  // For SES and Lambda: their requests have no header X-Amz-Target.
  '': ['TooManyRequestsException', 'Rate exceeded', { status: 429 }],
}
