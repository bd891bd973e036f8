import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda'
import { clientOptions } from '../../shared/aws/client-options.ts'
import { OperationError } from './errors.ts'

/** Client timeout: a little longer than the timeout of any function that operators invoke. */
const maxInvocationMilliseconds = 70_000

/**
 * Invokes a function, and resolves with its result. If the function fails, throws an OperationError with the
 * function's error message.
 */
export async function invokeFunction(name: string, event: object): Promise<unknown> {
  const lambda = new LambdaClient({
    ...clientOptions(),
    requestHandler: { connectionTimeout: 1_000, requestTimeout: maxInvocationMilliseconds },
    // No retries: after a lost response, a retry would run the function twice.
    maxAttempts: 1,
  })
  const { FunctionError, Payload } = await lambda.send(
    new InvokeCommand({ FunctionName: name, Payload: JSON.stringify(event) }),
  )
  const result: unknown = Payload === undefined ? undefined : JSON.parse(Buffer.from(Payload).toString())
  if (FunctionError === undefined) return result
  const { errorMessage = 'it gave no error message' } = (result ?? {}) as { errorMessage?: string }
  throw new OperationError(`${name} failed: ${errorMessage}`)
}
