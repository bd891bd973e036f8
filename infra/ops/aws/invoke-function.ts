import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda'
import { clientOptions } from '../../../shared/aws/client-options.ts'
import { OperationFailed } from '../problems.ts'

/** Lambda's own limit for a function of this service, and a little more. */
const longestMilliseconds = 70_000

/** Runs a function and waits for its answer; a function that fails is an OperationFailed with its words. */
export async function invokeFunction(name: string, event: object): Promise<unknown> {
  const lambda = new LambdaClient({
    ...clientOptions(),
    requestHandler: { connectionTimeout: 1_000, requestTimeout: longestMilliseconds },
    // A call that was answered late must not run twice.
    maxAttempts: 1,
  })
  try {
    const { FunctionError, Payload } = await lambda.send(
      new InvokeCommand({ FunctionName: name, Payload: JSON.stringify(event) }),
    )
    const answer: unknown = Payload === undefined ? undefined : JSON.parse(Buffer.from(Payload).toString())
    if (FunctionError === undefined) return answer
    throw new OperationFailed(`${name} failed: ${readMessage(answer)}`)
  } finally {
    lambda.destroy()
  }
}

const readMessage = (answer: unknown): string =>
  typeof answer === 'object' && answer !== null && 'errorMessage' in answer
    ? String(answer.errorMessage)
    : 'without saying why'
