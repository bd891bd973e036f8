import { emitMetric } from './emit-metric.ts'
import { Failure, OptimisticLockError, RuntimeFault, UnderMaintenance } from './errors.ts'
import { OutOfTime } from './invocation.ts'

/**
 * The cause of a temporary failure: a retry can succeed, and neither the request nor the code is wrong.
 * `not_ready`: a part of the service is not ready. `maintenance`: an operator switched the service off.
 */
type PassingCause = (typeof names)[number][0] | 'out_of_time' | 'not_ready' | 'maintenance'

/**
 * Temporary causes. Their patterns match names of AWS errors and codes of Node.js errors. The SDK retries
 * most of these errors (`@smithy/core/retry`), so only the last attempt's error gets here.
 */
const names = [
  ['throttled', /Throttl|ThroughputExceeded|^TooManyRequests|^(Request)?LimitExceeded/],
  ['outage', /^(KMS)?Internal[EFS]|Unavailable|^DependencyTimeout|^SendingPaused|^AccountSuspended/],
  ['timed_out', /^(AbortError|ETIMEDOUT|RequestTimeout|TimeoutError)/],
  ['unreachable', /^(EAI_AGAIN|ECONN|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EPIPE)/],
  ['contention', /^Transaction(Conflict|InProgress)/],
] as const

const causeOfName = (name: string): PassingCause | undefined =>
  names.find(([, pattern]) => pattern.test(name))?.[0]

/** The cause of a temporary error; undefined for a permanent error, after which a retry would fail, too. */
export function passingCause(error: unknown): PassingCause | undefined {
  if (!(error instanceof Error)) return undefined
  if (error instanceof OutOfTime) return 'out_of_time'
  if (error instanceof OptimisticLockError) return 'contention'
  if (error instanceof UnderMaintenance) return 'maintenance'
  if (error instanceof Failure)
    return error.failure === 'unavailable' ? (passingCause(error.cause) ?? 'not_ready') : undefined
  const { code, $metadata } = error as Error & { code?: string; $metadata?: { httpStatusCode?: number } }
  // Checks `code` before `name`, because the SDK sets the name TimeoutError even for a broken connection.
  const named = causeOfName(code ?? '') ?? causeOfName(error.name)
  return named ?? causeOfStatus($metadata?.httpStatusCode ?? 0) ?? passingCause(error.cause)
}

function causeOfStatus(status: number): PassingCause | undefined {
  if (status === 429) return 'throttled'
  return status >= 500 ? 'outage' : undefined
}

/** Whether the cause of an error is temporary, so that a later retry can succeed. */
export const isUnavailable = (error: unknown): boolean => passingCause(error) !== undefined

/**
 * Whether an error is the fault of this service, not of its caller or of another system. The runbook lists
 * all cases: infra/RUNBOOK.md#faults.
 */
export function isFault(error: unknown): boolean {
  if (error instanceof OutOfTime) return !error.waited
  if (error instanceof Failure) return error.failure === 'internal' || error.cause instanceof RuntimeFault
  return passingCause(error) === undefined
}

/**
 * Counts a failure in metrics: a fault in `Faults`, and a temporary failure in `Unavailable`. A failure that
 * the caller caused is counted in neither.
 */
export function countFailure(error: unknown): void {
  const cause = passingCause(error)
  if (cause !== undefined) emitMetric('Unavailable', 1, { dimensions: { cause } })
  if (!isFault(error)) return
  emitMetric('Faults', 1, {
    dimensions: {
      function: process.env['AWS_LAMBDA_FUNCTION_NAME'] ?? 'none',
      version: process.env['AWS_LAMBDA_FUNCTION_VERSION'] ?? 'none',
    },
  })
}
