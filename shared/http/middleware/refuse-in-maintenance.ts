import { Failure, UnderMaintenance } from '../../errors.ts'
import type { HttpMiddleware } from '../request.ts'

/**
 * Variable of the API's stage that switches the service off. API Gateway adds the stage's variables to the
 * event of every request, so the switch costs no call, and holds for environments that start later.
 */
export const maintenanceVariable = 'maintenance'

/** When a client that met the maintenance should come back. */
const retryAfterSeconds = 60

/** Middleware that answers every request `unavailable` while the service is switched off. */
export const refuseInMaintenance = (): HttpMiddleware => ({
  before({ event }) {
    // Setting a stage variable to the empty text removes it.
    if ((event.stageVariables?.[maintenanceVariable] ?? '') === '') return
    throw new Failure('unavailable', { retryAfterSeconds, cause: new UnderMaintenance() })
  },
})
