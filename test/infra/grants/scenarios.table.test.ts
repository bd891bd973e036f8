import { expect, it } from 'vitest'
import { endpointFunctions } from '../../../infra/endpoint-functions.ts'
import { events } from '../../../infra/events.ts'
import { endpointName, eventName } from '../../../infra/names.ts'
import { dataScenarios } from './data-scenarios.ts'
import { eventScenarios } from './event-scenarios.ts'
import { signInScenarios } from './sign-in-scenarios.ts'

// grants.stack.test.ts, which runs the scenarios, is a long test: this one tells of a forgotten one at once.
it('every endpoint and event has a scenario that uses its permissions', () => {
  const endpoints = endpointFunctions().filter(({ permissions }) => Object.keys(permissions).length > 0)
  expect(Object.keys({ ...signInScenarios, ...dataScenarios, ...eventScenarios }).sort()).toEqual(
    [
      ...endpoints.map(({ entry }) => endpointName(entry)),
      ...events.map(({ detailType }) => `intake-${eventName(detailType)}`),
    ].sort(),
  )
})
