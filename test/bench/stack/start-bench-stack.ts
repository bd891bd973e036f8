import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startAwsEndpoint } from '../../../infra/local/aws/server.ts'
import { createTables } from '../../../infra/local/dynamodb/create-tables.ts'
import { startDynamodb } from '../../../infra/local/dynamodb/start-dynamodb.ts'
import { findFreePort } from '../../../infra/local/http/bind-server.ts'
import type { FunctionModel } from '../../../infra/local/model.ts'
import { composeEnvironment } from '../../../infra/local/runtime/function-environment.ts'
import { synthesizeLocalStage } from '../../../infra/local/stage.ts'
import { buildStackModel } from '../../../infra/local/template/build-model.ts'
import { commonEnvironment } from '../../support/common-environment.ts'

/** The table, the keys and the queues of a stage, whose functions the benchmark runs itself. */
export interface BenchStack {
  functions: readonly FunctionModel[]
  awsUrl: string
  /** The bundle of a function, and its environment with its AWS calls to this address. */
  describe: (name: string, awsUrl: string) => { file: string; environment: Record<string, string> }
  close: () => Promise<void>
}

const region = 'us-east-1'

/**
 * Starts a local stack without gateway and delivery, whose functions the benchmark runs itself, and gives
 * this process the environment of a function: import modules of shared/ after that. It makes the first
 * signing key.
 */
export async function startBenchStack(): Promise<BenchStack> {
  const directory = mkdtempSync(join(tmpdir(), 'bench-'))
  const port = await findFreePort()
  const awsUrl = `http://127.0.0.1:${port}`
  const [dynamodb, assembly] = await Promise.all([
    startDynamodb(undefined),
    synthesizeLocalStage(join(directory, 'assembly'), { authUrl: 'http://127.0.0.1:1/' }),
  ])
  const model = buildStackModel(assembly, {
    region,
    accountId: '000000000000',
    apiUrl: 'http://127.0.0.1:1',
    awsUrl,
  })
  await createTables(dynamodb.endpoint, model.tables)
  const aws = await startAwsEndpoint({
    port,
    model,
    dynamodbEndpoint: dynamodb.endpoint,
    dataDirectory: undefined,
    invoke: async (name) => {
      throw new Error(`nothing delivers to ${name} here`)
    },
  })
  const environment = commonEnvironment(model.functions, region, awsUrl)
  Object.assign(process.env, environment, { POWERTOOLS_LOG_LEVEL: 'SILENT' })
  const { handler: rotate } = await import('../../../functions/schedule/rotate-signing-keys.ts')
  await rotate({}, { awsRequestId: 'bench' })
  return {
    functions: model.functions,
    awsUrl,
    describe(name, url) {
      const item = model.functions.find((one) => one.name === name)
      if (item === undefined) throw new Error(`there is no function ${name}`)
      const credentials = { ...aws.credentialsFor(item), sessionToken: 'local' }
      return {
        file: join(item.codeDirectory, 'index.mjs'),
        environment: composeEnvironment(item, region, url, credentials),
      }
    },
    async close() {
      await aws.close()
      await dynamodb.close()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}
