import type { Request } from '@middy/core'
import type { APIGatewayProxyEventV2 } from 'aws-lambda'
import { Failure } from '../../errors.ts'
import { log } from '../../log.ts'
import { type Caller, checkAccessToken, claimedUserId } from '../../tokens/access-token.ts'
import type { RequiredScope } from '../../tokens/scopes.ts'
import { bearerChallenge } from '../bearer-challenge.ts'
import { type HttpMiddleware, readAuthorization } from '../request.ts'

/** What the session check adds to the event for the handler. */
export interface Session {
  /** The signed-in caller: resolves when the token is valid, rejects with the failure to answer. */
  caller: Promise<Caller>
  /** The user id that the token claims. It is unverified until `caller` has resolved. */
  claimedUserId: number
}

/**
 * Middleware that starts the session check without waiting for it. A failure of the check takes precedence
 * over any other failure of the request.
 */
export function authenticate(scope: RequiredScope): HttpMiddleware {
  const started = new WeakMap<object, Promise<Caller>>()
  return {
    before(request) {
      const token = readAuthorization(request.event, 'bearer')
      const userId = token === undefined ? undefined : claimedUserId(token)
      if (token === undefined || userId === undefined) {
        throw bearerChallenge(new Failure('unauthenticated'), token !== undefined)
      }
      const caller = checkAccessToken(token, scope).catch((error: unknown) => {
        throw error instanceof Failure ? bearerChallenge(error) : error
      })
      // The handler or onError awaits the session check later. This handler prevents an unhandled rejection
      // until then.
      caller.catch(() => undefined)
      started.set(request, caller)
      Object.assign(request.event, { caller, claimedUserId: userId } satisfies Session)
    },
    async onError(request: Request<APIGatewayProxyEventV2>) {
      const caller = started.get(request)
      try {
        const known = await caller
        if (known) log.appendKeys({ user_id: known.userId })
      } catch (error) {
        request.error = error as Error
      }
    },
    after: async (request) => {
      const known = await started.get(request)
      if (known) log.appendKeys({ user_id: known.userId })
    },
  }
}
