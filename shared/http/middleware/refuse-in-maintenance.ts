import type { MiddlewareObj } from '@middy/core'
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from 'aws-lambda'
import { Failure, UnderMaintenance } from '../../errors.ts'

/**
 * Variable of the API's stage that switches the service off. API Gateway adds the stage's variables to the
 * event of every request, so the switch costs no call, and holds for environments that start later.
 */
export const maintenanceVariable = 'maintenance'

/** When a client that met the maintenance should come back. */
const retryAfterSeconds = 60

/** Middleware that answers every request `unavailable` while the service is switched off. */
export const refuseInMaintenance = (): MiddlewareObj<
  APIGatewayProxyEventV2,
  APIGatewayProxyStructuredResultV2
> => ({
  before({ event }) {
    // Setting a stage variable to the empty text removes it.
    if ((event.stageVariables?.[maintenanceVariable] ?? '') === '') return
    throw new Failure('unavailable', { retryAfterSeconds, cause: new UnderMaintenance() })
  },
})
