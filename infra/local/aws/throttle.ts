import type { Manners } from '../manners.ts'
import type { Caller } from './iam/callers.ts'
import { AwsError, type AwsRequest } from './wire/http-messages.ts'

const probability = 0.01

/**
 * Throws the service's own throttling error for a random part of the calls. The last attempt of an AWS SDK
 * (header `amz-sdk-request`) always goes through: a throttle that outlasts all attempts would be an outage.
 */
export function throttle(manners: Manners, { arn }: Caller, { target, path, headers }: AwsRequest): void {
  const [, attempt = '1', max = '1'] =
    /attempt=(\d+); max=(\d+)/.exec(String(headers['amz-sdk-request'])) ?? []
  if (Number(attempt) >= Number(max)) return
  const operation = target.operation || path
  const error = throttlingError(target.service, path, operation)
  if (error !== undefined && manners.happens('throttles', `${arn} ${operation}`, probability)) throw error
}

/** The throttling error of a service, as its API reference names it. */
function throttlingError(service: string, path: string, operation: string): AwsError | undefined {
  if (service.startsWith('DynamoDB')) {
    // dynamodb/conflicts.ts throttles transactions, because the SDK does not retry a cancelled transaction.
    if (operation === 'TransactWriteItems') return undefined
    return new AwsError('ProvisionedThroughputExceededException', 'The level of throughput was exceeded.')
  }
  if (service === 'AmazonSQS')
    return new AwsError('RequestThrottled', 'The request was denied due to request throttling.', {
      status: 403,
      queryCode: 'RequestThrottled',
    })
  if (service === 'TrentService') return new AwsError('ThrottlingException', 'You call KMS too often.')
  if (service === 'AWSEvents') return new AwsError('ThrottlingException', 'Rate exceeded')
  // These are SES and Lambda, the services with a REST protocol.
  if (service === '' && path !== '/')
    return new AwsError('TooManyRequestsException', 'Rate exceeded', { status: 429 })
  return undefined
}
