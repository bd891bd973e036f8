import { GetFunctionConfigurationCommand, LambdaClient } from '@aws-sdk/client-lambda'
import { clientOptions } from '../../../shared/aws/client-options.ts'
import type { Environment } from '../../../shared/env.ts'

/**
 * Reads the environment variables of the rotation function. They name the evidence key and the bucket of
 * copies.
 */
export async function readRotationEnvironment(namePrefix: string): Promise<Environment> {
  const FunctionName = `${namePrefix}rotate-signing-keys`
  const lambda = new LambdaClient(clientOptions())
  const answer = await lambda.send(new GetFunctionConfigurationCommand({ FunctionName }))
  return answer.Environment?.Variables ?? {}
}
