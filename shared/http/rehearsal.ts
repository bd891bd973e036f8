import type { APIGatewayProxyEventV2, Context } from 'aws-lambda'
import { Failure } from '../errors.ts'
import { runInvocation } from '../invocation.ts'
import { errorSummary, log } from '../log.ts'
import { settings } from '../settings.ts'
import type { Handler } from './endpoint.ts'

/** Longest time that a rehearsal takes, in milliseconds. */
const maxMilliseconds = 1_000

/** A request of nobody: it has an access_token of the right shape, which no user has. */
const requestOfNobody = {
  headers: { authorization: `Bearer at_0.${'-'.repeat(22)}.${'-'.repeat(43)}` },
  rawQueryString: '',
  isBase64Encoded: false,
} as Partial<APIGatewayProxyEventV2> as APIGatewayProxyEventV2

/**
 * Answers a request of nobody before the first request comes, so that a connection to the table is open and
 * the code on the way of a request has run. It reads and has no effect: the request is refused, because
 * nobody has its access_token. Any other failure is logged, and is left to the first request that meets it.
 */
export async function rehearse(handler: Handler): Promise<void> {
  try {
    settings()
    await runInvocation({ getRemainingTimeInMillis: () => maxMilliseconds }, 0, () =>
      handler(requestOfNobody, {} as Context),
    )
  } catch (error) {
    if (!(error instanceof Failure && error.failure === 'unauthenticated'))
      log.warn('rehearsal failed', { cause: errorSummary(error) })
  }
  log.info('initialized', { duration_ms: Math.round(process.uptime() * 1000) })
}
