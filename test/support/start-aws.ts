import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openCallers } from '../../infra/local/aws/iam/callers.ts'
import { type AwsEndpointOptions, startAwsEndpoint } from '../../infra/local/aws/server.ts'
import { createTables } from '../../infra/local/dynamodb/create-tables.ts'
import { startDynamodb } from '../../infra/local/dynamodb/start-dynamodb.ts'
import { bindServer } from '../../infra/local/http/bind-server.ts'
import type { FunctionModel } from '../../infra/local/model.ts'
import { composeEnvironment } from '../../infra/local/runtime/function-environment.ts'
import { buildStackModel } from '../../infra/local/template/build-model.ts'
import type { StackTemplate } from '../../infra/local/template/stack-templates.ts'
import { commonEnvironment } from './common-environment.ts'

const region = 'us-east-1'

type Options = Pick<AwsEndpointOptions, 'onAccess' | 'report'> & {
  apiUrl?: string
}

/**
 * Starts the local AWS services of a stage, with empty tables and queues. Starts no gateway and no Lambda
 * runtime, because tests and benchmark run the Lambda functions themselves.
 */
export async function startAws(
  synthesize: (outputDirectory: string, settings: Record<string, string>) => Promise<StackTemplate[]>,
  { apiUrl = 'http://127.0.0.1:1', ...options }: Options = {},
) {
  const directory = mkdtempSync(join(tmpdir(), 'aws-'))
  const server = await bindServer(0, '')
  const awsUrl = server.url
  const [dynamodb, templates] = await Promise.all([
    startDynamodb(undefined),
    synthesize(join(directory, 'assembly'), { authUrl: 'http://127.0.0.1:1/' }),
  ])
  const model = buildStackModel(templates, { region, accountId: '000000000000', apiUrl, awsUrl })
  await createTables(dynamodb.endpoint, model.tables)
  const callers = openCallers(model)
  const aws = await startAwsEndpoint({
    server,
    model,
    callers,
    dynamodbEndpoint: dynamodb.endpoint,
    dataDirectory: undefined,
    invoke: async (name) => {
      throw new Error(`${name} cannot be invoked: tests that need this belong to the project stack`)
    },
    ...options,
  })
  return {
    functions: model.functions,
    awsUrl,
    dynamodbEndpoint: dynamodb.endpoint,
    /** An environment for a process that runs the code of several functions. */
    environment: commonEnvironment(model.functions, region, awsUrl),
    /** The environment of one function, which sends its AWS calls to `url`. */
    environmentOf: (item: FunctionModel, url: string = awsUrl) =>
      composeEnvironment(item, region, url, callers.credentialsFor(item)),
    close: async () => {
      await aws.close()
      await dynamodb.close()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}
