import { InvokeCommand, LambdaClient, paginateListFunctions } from '@aws-sdk/client-lambda'
import { clientOptions } from '../../shared/aws/client-options.ts'
import { events } from '../events.ts'
import { endpointName, eventName } from '../names.ts'
import { endpointFunctions } from '../endpoint-functions.ts'
import { schedules, workers } from '../workers-and-schedules.ts'
import { OperationError } from './errors.ts'
import type { Target } from './target.ts'

/** Finds the functions of this version of the project that are not active, with their states. */
export async function findInactive({ namePrefix }: Pick<Target, 'namePrefix'>) {
  const states = await readStates()
  const names = [
    ...endpointFunctions().map(({ entry }) => endpointName(entry)),
    'fallback',
    ...events.map(({ detailType }) => `intake-${eventName(detailType)}`),
    ...workers.map(({ name }) => `worker-${name}`),
    ...schedules.map(({ name }) => name),
  ].map((name) => namePrefix + name)
  const inactive = names
    .map((name) => ({ name, state: states.get(name) ?? 'Missing' }))
    .filter(({ state }) => state !== 'Active')
  return { all: names.length, inactive }
}

async function readStates(): Promise<Map<string, string>> {
  const client = new LambdaClient(clientOptions())
  const states = new Map<string, string>()
  for await (const { Functions = [] } of paginateListFunctions({ client }, {}))
    // ListFunctions on AWS omits the state, so a function in the list counts as active.
    for (const { FunctionName = '', State = 'Active' } of Functions) states.set(FunctionName, State)
  return states
}

/**
 * Client timeout of an invocation: a little longer than the timeout of any function that operators invoke.
 */
const maxInvocationMilliseconds = 70_000

/**
 * Invokes a Lambda function and returns its result. Throws an OperationError with the function's error
 * message.
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
  throw new OperationError(`${name} failed: ${errorMessageOf(result)}`)
}

const errorMessageOf = (result: unknown): string =>
  typeof result === 'object' && result !== null && 'errorMessage' in result
    ? String(result.errorMessage)
    : 'it gave no error message'
