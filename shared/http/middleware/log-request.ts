import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from 'aws-lambda'
import { consumedUnits, resetConsumedUnits } from '../../db/consumed-units.ts'
import { log } from '../../log.ts'
import type { HttpMiddleware } from '../request.ts'

/**
 * Middleware that adds `x-request-id` to every answer, and writes one log line per request: id, route,
 * status, duration and consumed DynamoDB units.
 */
export function logRequest(): HttpMiddleware {
  let startedAt = 0
  const finish = (
    event: APIGatewayProxyEventV2,
    response: APIGatewayProxyStructuredResultV2 | null | undefined,
  ) => {
    if (response) response.headers = { ...response.headers, 'x-request-id': event.requestContext.requestId }
    log.info('request', {
      status: response?.statusCode,
      duration_ms: Math.round(performance.now() - startedAt),
      ...consumedUnits(),
    })
  }
  return {
    before(request) {
      startedAt = performance.now()
      resetConsumedUnits()
      log.resetKeys()
      log.appendKeys({ request_id: request.event.requestContext.requestId, route: request.event.routeKey })
    },
    after: (request) => finish(request.event, request.response),
    onError: (request) => finish(request.event, request.response),
  }
}
