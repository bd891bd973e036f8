import { expect, it } from 'vitest'
import { makeBundleDirectories } from '../../support/bundle-directories.ts'
import { ofType, synthesizeUnchecked } from './synthesize.ts'

it('the knob signInConcurrency keeps executions for the two steps of a sign-in, and for nothing else', async () => {
  makeBundleDirectories()
  const stacks = await synthesizeUnchecked('prod', { values: { signInConcurrency: 200 } })
  const reserved = ofType(stacks, 'AWS::Lambda::Function')
    .map(({ resource: { Properties } }) => [
      Properties['FunctionName'],
      Properties['ReservedConcurrentExecutions'],
    ])
    .filter(([, executions]) => executions !== undefined)
  expect(reserved).toEqual([
    ['account-service-prod-user-login-with-password', 200],
    ['account-service-prod-user-login-2fa', 200],
  ])
})
