import type { FunctionModel } from '../../infra/local/model.ts'
import { testerCredentials } from './tester.ts'

/**
 * The environment for tests that call functions in their own process: every variable that has the same value
 * in all functions that have it, and the credentials of the tests' own role.
 */
export function commonEnvironment(
  functions: readonly FunctionModel[],
  region: string,
  awsUrl: string,
): Record<string, string> {
  const values = new Map<string, Set<string>>()
  for (const { environment } of functions) {
    for (const [name, value] of Object.entries(environment))
      values.set(name, (values.get(name) ?? new Set<string>()).add(value))
  }
  const common = [...values].filter(([, { size }]) => size === 1)
  return {
    ...Object.fromEntries(common.map(([name, [value = '']]) => [name, value])),
    AWS_REGION: region,
    AWS_ENDPOINT_URL: awsUrl,
    ...testerCredentials,
  }
}
