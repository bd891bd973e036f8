import { GetFunctionConfigurationCommand, LambdaClient } from '@aws-sdk/client-lambda'
import { clientOptions } from '../../../shared/aws/client-options.ts'
import type { Environment } from '../../../shared/env.ts'

/** Reads the environment of the rotation function, which names the evidence key and the evidence's copies. */
export async function readRotationEnvironment(namePrefix: string): Promise<Environment> {
  const FunctionName = `${namePrefix}rotate-signing-keys`
  const lambda = new LambdaClient(clientOptions())
  const answer = await lambda.send(new GetFunctionConfigurationCommand({ FunctionName }))
  return answer.Environment?.Variables ?? {}
}
