import { Failure } from '../errors.ts'

/** Error names that AWS services use for throttling and outages. */
const passing = new Set([
  'ThrottlingException',
  'ThrottledException',
  'Throttling',
  'RequestLimitExceeded',
  'RequestThrottled',
  'LimitExceededException',
  'ProvisionedThroughputExceededException',
  'TooManyRequestsException',
  'TransactionInProgressException',
  'InternalServerError',
  'InternalFailure',
  'ServiceUnavailable',
  'KMSInternalException',
  'DependencyTimeoutException',
  'KeyUnavailableException',
  'TimeoutError',
  'RequestTimeout',
  'AbortError',
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
])

/** Whether a call failed because a dependency is throttled or down, so that it may succeed later. */
export function isUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if (error instanceof Failure) return error.failure === 'unavailable'
  const { code, $metadata } = error as Error & { code?: string; $metadata?: { httpStatusCode?: number } }
  return (
    passing.has(error.name) ||
    (code !== undefined && passing.has(code)) ||
    ($metadata?.httpStatusCode ?? 0) >= 500 ||
    (error.cause !== undefined && isUnavailable(error.cause))
  )
}
