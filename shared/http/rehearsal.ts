import type { APIGatewayProxyEventV2, Context } from 'aws-lambda'
import { randomInt } from 'node:crypto'
import { findNothing } from '../db/find-nothing.ts'
import { Failure } from '../errors.ts'
import { runInvocation } from '../invocation.ts'
import { errorSummary, log } from '../log.ts'
import { settings } from '../settings.ts'
import { newAccessToken, newSessionId } from '../tokens/access-token.ts'
import type { Handler } from './endpoint.ts'

/** Longest time that a rehearsal takes, in milliseconds. */
const maxMilliseconds = 1_000

/**
 * A request with a new access_token, which nobody has. Functions that start at the same moment look theirs up
 * in different partitions, because its user is a random one.
 */
function requestOfNobody(): APIGatewayProxyEventV2 {
  const token = newAccessToken(randomInt(2 ** 47), newSessionId())
  const event: Partial<APIGatewayProxyEventV2> = {
    headers: { authorization: `Bearer ${token}` },
    rawQueryString: '',
    isBase64Encoded: false,
  }
  return event as APIGatewayProxyEventV2
}

/**
 * How many requests of nobody are answered besides the one that calls the table. By then V8 has compiled what
 * runs often and collected the garbage of the start, neither of which is left to the first request.
 */
const repetitions = 4

/**
 * Answers requests of nobody before the first request comes, so that a connection to the table is open and
 * the code on the way of a request has run. They have no effect: they are refused, because nobody has their
 * access_token. Any other failure is logged, and is left to the first request that meets it.
 *
 * Only the first one calls the table; the others find nothing without a call.
 */
export async function rehearse(handler: Handler): Promise<void> {
  let failure = await rehearseOnce(handler)
  await findNothing(async () => {
    for (let i = 0; i < repetitions && failure === undefined; i += 1) failure = await rehearseOnce(handler)
  })
  if (failure !== undefined) log.warn('rehearsal failed', { cause: errorSummary(failure) })
  log.info('initialized', { duration_ms: Math.round(process.uptime() * 1000) })
}

/** Answers a request of nobody, and resolves with the error if it is not refused as it should be. */
async function rehearseOnce(handler: Handler): Promise<unknown> {
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
