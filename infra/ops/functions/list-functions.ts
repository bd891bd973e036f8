import { LambdaClient, paginateListFunctions } from '@aws-sdk/client-lambda'
import { clientOptions } from '../../../shared/aws/client-options.ts'
import { events, routes, schedules, workers } from '../../routes.ts'
import type { Target } from '../target.ts'

/** A function of the deployment. */
export interface ListedFunction {
  name: string
  called_by: string
  /** Lambda's own word, or `Missing`. */
  state: string
}

/** The functions that this version of the project deploys, and what Lambda says of each. */
export async function listFunctions({ namePrefix }: Pick<Target, 'namePrefix'>): Promise<ListedFunction[]> {
  const states = await readStates()
  return [...callers()].map(([plainName, by]) => {
    const name = namePrefix + plainName
    return { name, called_by: by.join(', '), state: states.get(name) ?? 'Missing' }
  })
}

function callers(): Map<string, string[]> {
  const found = new Map<string, string[]>()
  const add = (name: string, by: string) => found.set(name, [...(found.get(name) ?? []), by])
  for (const { method, path, entry } of routes) add(entry.replaceAll('/', '-'), `${method} ${path}`)
  add('fallback', 'every other route')
  for (const { detailType } of events) add(`intake-${detailType.replaceAll('.', '-')}`, detailType)
  for (const { name } of workers) add(`worker-${name}`, `queue ${name}`)
  for (const { name, rate } of schedules) add(name, rate)
  return found
}

async function readStates(): Promise<Map<string, string>> {
  const client = new LambdaClient(clientOptions())
  const states = new Map<string, string>()
  for await (const { Functions = [] } of paginateListFunctions({ client }, {}))
    // The list leaves the state out on AWS: what is listed is there.
    for (const { FunctionName = '', State = 'Active' } of Functions) states.set(FunctionName, State)
  client.destroy()
  return states
}
