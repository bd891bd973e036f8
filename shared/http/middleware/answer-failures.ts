import { emitMetric } from '../../emit-metric.ts'
import { Failure } from '../../errors.ts'
import { countFailure, isUnavailable, passingCause } from '../../faults.ts'
import { errorSummary, log } from '../../log.ts'
import { type Dialect, fail } from '../reply.ts'
import type { HttpMiddleware } from '../request.ts'

/**
 * Middleware that turns an error into an answer. A Failure is answered with its own status and code. An error
 * with a passing cause becomes `unavailable`. Any other error becomes `internal` and is logged without its
 * message, which may quote what was sent.
 */
export const answerFailures = (dialect: Dialect): HttpMiddleware => ({
  onError(request) {
    const failure = toFailure(request.error)
    const cause = errorSummary(request.error)
    if (failure.failure === 'internal') log.error('request failed', { cause })
    if (failure.failure === 'unavailable')
      log.warn('request failed for now', { passing_cause: passingCause(request.error), cause })
    countFailure(request.error)
    log.appendKeys({ failure: failure.failure })
    emitMetric('Failures', 1, { dimensions: { failure: failure.failure } })
    request.response = fail(failure, dialect)
  },
})

function toFailure(error: unknown): Failure {
  if (error instanceof Failure) return error
  return isUnavailable(error) ? new Failure('unavailable', { retryAfterSeconds: 1 }) : new Failure('internal')
}
