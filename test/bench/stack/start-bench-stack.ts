import { join } from 'node:path'
import type { FunctionModel } from '../../../infra/local/model.ts'
import { synthesizeLocalStage } from '../../../infra/local/stage.ts'
import { startAws } from '../../support/start-aws.ts'
import { withTester } from '../../support/tester.ts'

/** The table, keys and queues of a local stage, without a runtime: the benchmark runs the functions. */
export interface BenchStack {
  functions: readonly FunctionModel[]
  awsUrl: string
  /** DynamoDB Local itself, past the local AWS services. Its user name is the access key of the database. */
  dynamodbUrl: string
  /** How many calls the local AWS services have taken, keyed by the prefix of IAM actions, as `dynamodb`. */
  callsTaken: ReadonlyMap<string, number>
  /** The bundle of a function, and an environment that sends the function's AWS calls to `awsUrl`. */
  describe: (name: string, awsUrl: string) => { file: string; environment: Record<string, string> }
  close: () => Promise<void>
}

/**
 * Starts a local stack without gateway and event delivery, because the benchmark runs the functions itself.
 * Creates a signing key. Gives this process a function's environment: import modules of shared/ only after
 * that.
 */
export async function startBenchStack(): Promise<BenchStack> {
  const callsTaken = new Map<string, number>()
  const { functions, awsUrl, dynamodbEndpoint, environment, environmentOf, close } = await startAws(
    withTester(synthesizeLocalStage),
    {
      onAccess(_caller, [access]) {
        const [service = ''] = access?.action.split(':') ?? []
        callsTaken.set(service, (callsTaken.get(service) ?? 0) + 1)
      },
    },
  )
  Object.assign(process.env, environment)
  const { handler: rotate } = await import('../../../functions/schedule/rotate-signing-keys.ts')
  await rotate({}, { awsRequestId: 'bench' })
  return {
    functions,
    awsUrl,
    dynamodbUrl: dynamodbEndpoint,
    callsTaken,
    describe(name, url) {
      const item = functions.find((one) => one.name === name)
      if (item === undefined) throw new Error(`there is no function ${name}`)
      return { file: join(item.codeDirectory, 'index.mjs'), environment: environmentOf(item, url) }
    },
    close,
  }
}
