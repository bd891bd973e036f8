import type { APIGatewayProxyStructuredResultV2 } from 'aws-lambda'
import * as v from 'valibot'
import type { Endpoint } from './endpoint.ts'

/**
 * The event that asks a function to check itself. Only who may invoke the function in Lambda can send it: an
 * event of API Gateway always has other members, whatever the request is.
 */
const SelfCheck = v.strictObject({ action: v.literal('self-check') })

/** Lets an endpoint's function answer a self-check, too, with the check's result. */
export function withSelfCheck(endpoint: Endpoint, check: () => Promise<object>): Endpoint {
  return Object.assign(
    async (...[event, context]: Parameters<Endpoint>): Promise<APIGatewayProxyStructuredResultV2> =>
      // API Gateway never sees the result of a self-check, which is no HTTP answer.
      v.is(SelfCheck, event) ? await check() : await endpoint(event, context),
    { description: endpoint.description },
  )
}
