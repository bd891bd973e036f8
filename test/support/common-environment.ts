import type { FunctionModel } from '../../infra/local/model.ts'
import { testerCredentials } from './tester.ts'

/**
 * The environment for tests that call functions in their own process: the variables whose values do not
 * differ between functions, and the credentials of the tests' role.
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
