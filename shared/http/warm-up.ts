import type { APIGatewayProxyEventV2, Context } from 'aws-lambda'
import { randomInt } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import { findNothing } from '../db/find-nothing.ts'
import { Failure } from '../errors.ts'
import { runInvocation } from '../invocation.ts'
import { errorSummary, log } from '../log.ts'
import { settings } from '../settings.ts'
import { newAccessToken, newSessionId } from '../tokens/access-token.ts'
import type { Handler } from './endpoint.ts'

/** Maximum duration of a warm-up request. */
const maxMilliseconds = 1_000

/**
 * A request with an access_token that was never issued. The token contains a random user id. So if functions
 * start at the same moment, they read different partitions.
 */
function requestOfNobody(): APIGatewayProxyEventV2 {
  const token = newAccessToken(randomInt(2 ** 47), newSessionId())
  const event = {
    headers: { authorization: `Bearer ${token}` },
    requestContext: { http: { method: 'GET' } },
    rawQueryString: '',
    isBase64Encoded: false,
  }
  return event as unknown as APIGatewayProxyEventV2
}

/**
 * Number of warm-up requests besides the first one. They let V8 compile hot code and collect the garbage of
 * module loading, so the first real request waits for neither.
 */
const repetitions = 4

/** An endpoint that can handle a request without its middleware, so that nothing is logged or counted. */
export interface Rehearsed {
  readonly rehearse: Handler
}

/**
 * Warms a function up while Lambda initializes it: connects to the table, and runs the code that handles
 * requests. During initialization a function has a full vCPU. Later, one of 256 MB has only a seventh, and
 * its first request, with a TLS handshake, would take 200 ms. Does nothing elsewhere than on Lambda.
 *
 * Warm-up requests are refused, because their access_tokens were never issued. Only the first one calls the
 * table. Failures are only logged, because a real request would report them.
 */
export async function warmUp({ rehearse: handler }: Rehearsed): Promise<void> {
  if (process.env['AWS_LAMBDA_INITIALIZATION_TYPE'] === undefined) return
  const first = warmUpOnce(handler)
  let failure: unknown
  for (let i = 0; i < repetitions && failure === undefined; i += 1) {
    // Lets the first warm-up request go on with its call to the table.
    await setImmediate()
    failure = await findNothing(() => warmUpOnce(handler))
  }
  failure = (await first) ?? failure
  if (failure !== undefined) log.warn('warm-up failed', { cause: errorSummary(failure) })
  log.info('initialized', { duration_ms: Math.round(process.uptime() * 1000) })
}

/** Handles one warm-up request, which should be refused. If it is not, resolves with an error. */
async function warmUpOnce(handler: Handler): Promise<unknown> {
  try {
    settings()
    await runInvocation({ getRemainingTimeInMillis: () => maxMilliseconds }, 0, () =>
      handler(requestOfNobody(), {} as Context),
    )
    return new Error('a request of nobody was answered')
  } catch (error) {
    return error instanceof Failure && error.failure === 'unauthenticated' ? undefined : error
  }
}
