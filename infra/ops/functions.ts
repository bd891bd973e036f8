import { InvokeCommand, LambdaClient, paginateListFunctions } from '@aws-sdk/client-lambda'
import { clientOptions } from '../../shared/aws/client-options.ts'
import { events } from '../events.ts'
import { endpointName, eventName } from '../names.ts'
import { routes } from '../routes.ts'
import { schedules, workers } from '../workers-and-schedules.ts'
import { OperationError } from './errors.ts'
import type { Target } from './target.ts'

/** A Lambda function of the deployment. */
export interface ListedFunction {
  name: string
  called_by: string
  /** State of the function in Lambda, or `Missing`. */
  state: string
}

/** Lists every function that this version of the project deploys, with its state in Lambda. */
export async function listFunctions({ namePrefix }: Pick<Target, 'namePrefix'>): Promise<ListedFunction[]> {
  const states = await readStates()
  return [...callersByFunction()].map(([unprefixed, callers]) => {
    const name = namePrefix + unprefixed
    return { name, called_by: callers.join(', '), state: states.get(name) ?? 'Missing' }
  })
}

function callersByFunction(): Map<string, string[]> {
  const found = new Map<string, string[]>()
  const add = (name: string, caller: string) => found.set(name, [...(found.get(name) ?? []), caller])
  for (const { method, path, entry } of routes) add(endpointName(entry), `${method} ${path}`)
  add('fallback', 'every other route')
  for (const { detailType } of events) add(`intake-${eventName(detailType)}`, detailType)
  for (const { name } of workers) add(`worker-${name}`, `queue ${name}`)
  for (const { name, rate } of schedules) add(name, rate)
  return found
}

async function readStates(): Promise<Map<string, string>> {
  const client = new LambdaClient(clientOptions())
  const states = new Map<string, string>()
  for await (const { Functions = [] } of paginateListFunctions({ client }, {}))
    // ListFunctions on AWS omits the state, so a function in the list counts as active.
    for (const { FunctionName = '', State = 'Active' } of Functions) states.set(FunctionName, State)
  client.destroy()
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
  try {
    const { FunctionError, Payload } = await lambda.send(
      new InvokeCommand({ FunctionName: name, Payload: JSON.stringify(event) }),
    )
    const result: unknown = Payload === undefined ? undefined : JSON.parse(Buffer.from(Payload).toString())
    if (FunctionError === undefined) return result
    throw new OperationError(`${name} failed: ${errorMessageOf(result)}`)
  } finally {
    lambda.destroy()
  }
}

const errorMessageOf = (result: unknown): string =>
  typeof result === 'object' && result !== null && 'errorMessage' in result
    ? String(result.errorMessage)
    : 'it gave no error message'
