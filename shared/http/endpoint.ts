import middy from '@middy/core'
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from 'aws-lambda'
import type * as v from 'valibot'
import type { Caller } from '../tokens/access-token.ts'
import type { RequiredScope } from '../tokens/scopes.ts'
import { answerFailures } from './middleware/answer-failures.ts'
import { authenticate, type Session } from './middleware/authenticate.ts'
import { logRequest } from './middleware/log-request.ts'
import { readBody } from './middleware/read-body.ts'
import {
  answer,
  type Common,
  describe,
  type Endpoint,
  info,
  parse,
  type RequestInfo,
  type Result,
} from './pipeline.ts'

interface SignedIn<Input extends v.GenericSchema, Output extends v.GenericSchema, Prefetched> extends Common<
  Input,
  Output
> {
  /** The scope that the token must hold, or `first-party`. */
  scope: RequiredScope
  /**
   * A first read that goes out together with the session check and saves a round trip. It is given the user id that
   * the token claims and must not write; nothing of it leaves before the session has been found good.
   */
  prefetch?: (input: v.InferOutput<Input>, claimedUserId: number) => Promise<Prefetched>
  run: (
    input: v.InferOutput<Input>,
    caller: Caller,
    prefetched: Prefetched,
    request: RequestInfo,
  ) => Result<Output>
}

/**
 * An endpoint for signed-in callers. The one place that reads a raw event: checks the token and its scope, parses the
 * input, runs, and answers in the envelope; every failure is answered with its own status and code. A bad token is
 * answered before any other fault, so that strangers learn nothing from bad input.
 */
export function endpoint<
  Input extends v.GenericSchema,
  Output extends v.GenericSchema,
  Prefetched = undefined,
>(spec: SignedIn<Input, Output, Prefetched>): Endpoint {
  const { dialect = 'envelope', accepts = 'none' } = spec
  const handler = middy<APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2>()
    .use(logRequest())
    .use(answerFailures(dialect))
    .use(authenticate(spec.scope))
    .use(readBody(accepts))
    .handler(async (event) => {
      const session = event as typeof event & Session
      const input = parse(spec.input, event, spec.repeats)
      const [caller, prefetched] = await Promise.all([
        session.caller,
        spec.prefetch?.(input, session.claimedUserId),
      ])
      // Present whenever the endpoint names a prefetch, which is what the type parameter says.
      return answer(spec.run(input, caller, prefetched as Prefetched, info(event)), dialect)
    })
  return describe(handler, { scope: spec.scope, input: spec.input, output: spec.output, dialect, accepts })
}
