import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startAwsEndpoint } from '../../../infra/local/aws/server.ts'
import { createTables } from '../../../infra/local/dynamodb/create-tables.ts'
import { startDynamodb } from '../../../infra/local/dynamodb/start-dynamodb.ts'
import { findFreePort } from '../../../infra/local/http/bind-server.ts'
import type { FunctionModel, StackModel } from '../../../infra/local/model.ts'
import { createInvokeByName } from '../../../infra/local/runtime/invoke-by-name.ts'
import { composeEnvironment } from '../../../infra/local/runtime/function-environment.ts'
import { type InvokeFunction, Runtime } from '../../../infra/local/runtime/runtime.ts'
import { buildStackModel } from '../../../infra/local/template/build-model.ts'
import { synthesizeFromBundles } from '../../support/synthesize-from-bundles.ts'
import { makeVariants, type Variant } from './variants.ts'

/**
 * A local stack whose functions are invoked directly. It has all functions, and variants of each that lack
 * one IAM grant.
 */
export interface OwnStack {
  awsUrl: string
  model: StackModel
  functions: FunctionModel[]
  variants: Variant[]
  invoke: InvokeFunction
  /** Runs `use` while a function has the policies of its variant. */
  withPoliciesOf: <T>(variant: Variant, original: FunctionModel, use: () => Promise<T>) => Promise<T>
  /** Reads all log lines of a function. */
  readLog: (functionName: string) => string
  stop: () => Promise<void>
}

const region = 'us-east-1'
const accountId = '000000000000'

/** Starts the local stack from existing bundles, without an HTTP gateway and without delivery of events. */
export async function startOwnStack(): Promise<OwnStack> {
  const directory = mkdtempSync(join(tmpdir(), 'grants-'))
  const awsPort = await findFreePort()
  const awsUrl = `http://127.0.0.1:${awsPort}`
  const [dynamodb, synthesized] = await Promise.all([
    startDynamodb(undefined),
    synthesizeFromBundles(join(directory, 'assembly'), { authUrl: 'http://127.0.0.1:1/' }),
  ])
  const model = buildStackModel(synthesized, { region, accountId, apiUrl: 'http://127.0.0.1:1', awsUrl })
  await createTables(dynamodb.endpoint, model.tables)
  const functions = [...model.functions]
  const variants = functions.flatMap(makeVariants)
  model.functions.push(...variants.map((variant) => variant.model))

  const lines = new Map<string, string[]>()
  const log = {
    write: (name: string, line: string) => void lines.set(name, [...(lines.get(name) ?? []), line]),
  }
  const runtime = new Runtime({
    functions: model.functions,
    environmentOf: (item) =>
      composeEnvironment(item, region, aws.url, { ...aws.credentialsFor(item), sessionToken: 'local' }),
    log,
    limits: { maxWorkers: 6 },
  })
  const aws = await startAwsEndpoint({
    port: awsPort,
    model,
    dynamodbEndpoint: dynamodb.endpoint,
    dataDirectory: undefined,
    invoke: createInvokeByName(model.functions, runtime.invoke, () => undefined),
  })
  return {
    awsUrl: aws.url,
    model,
    functions,
    variants,
    invoke: runtime.invoke,
    async withPoliciesOf({ model: { policies } }, original, use) {
      aws.replacePolicies({ ...original, policies })
      try {
        return await use()
      } finally {
        aws.replacePolicies(original)
      }
    },
    readLog: (name) => (lines.get(name) ?? []).join('\n'),
    async stop() {
      await runtime.close()
      await aws.close()
      await dynamodb.close()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}
