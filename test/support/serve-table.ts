// Serves the table that all tests of the project `table` share, with the keys that functions need: DynamoDB
// Local behind the local stack's AWS endpoint, without bundles, gateway and running functions. Tests call the
// code in their own process.
import './quick-rsa-keys.ts'
import { App } from 'aws-cdk-lib'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import cdkJson from '../../cdk.json' with { type: 'json' }
import { readConfig } from '../../infra/config.ts'
import { startAwsEndpoint } from '../../infra/local/aws/server.ts'
import { createTables } from '../../infra/local/dynamodb/create-tables.ts'
import { startDynamodb } from '../../infra/local/dynamodb/start-dynamodb.ts'
import { findFreePort } from '../../infra/local/http/bind-server.ts'
import type { StackModel } from '../../infra/local/model.ts'
import { buildStackModel } from '../../infra/local/template/build-model.ts'
import { readStackTemplates } from '../../infra/local/template/stack-templates.ts'
import { addStacks } from '../../infra/stacks/add-stacks.ts'
import { makeBundleDirectories } from './bundle-directories.ts'
import { commonEnvironment } from './common-environment.ts'
import { serveForParent } from './serve-for-parent.ts'
import './silence-metrics.ts'

const region = 'us-east-1'

process.env.TZ = 'UTC'
process.env.POWERTOOLS_LOG_LEVEL = 'SILENT'

await serveForParent(async () => {
  const port = await findFreePort()
  const starting = startDynamodb(undefined)
  const model = await synthesizeModel(`http://127.0.0.1:${port}`)
  const dynamodb = await starting
  await createTables(dynamodb.endpoint, model.tables)
  const aws = await startAwsEndpoint({
    port,
    model,
    dynamodbEndpoint: dynamodb.endpoint,
    dataDirectory: undefined,
    invoke: async (name) => {
      throw new Error(
        `${name} cannot be invoked: tests that need running functions belong to the project stack`,
      )
    },
    report: () => undefined,
  })
  const environment = commonEnvironment(model.functions, region, aws.url)
  await makeSigningKey(environment)
  return {
    description: { environment, dynamodbEndpoint: new URL(dynamodb.endpoint).origin },
    stop: async () => {
      await aws.close()
      await dynamodb.close()
    },
  }
})

/** Synthesizes the stage `local` as it would be deployed. */
async function synthesizeModel(awsUrl: string): Promise<StackModel> {
  makeBundleDirectories()
  const outdir = mkdtempSync(join(tmpdir(), 'table-'))
  const context = { ...cdkJson.context, 'aws:cdk:disable-asset-staging': true }
  const app = new App({ outdir, context, analyticsReporting: false, builtinCloudFormationValidation: false })
  await addStacks(app, readConfig({ stage: 'local', authUrl: 'https://auth.example.com/' }))
  const model = buildStackModel(readStackTemplates(app.synth()), {
    region,
    accountId: '000000000000',
    apiUrl: 'https://api.example.com',
    awsUrl,
  })
  rmSync(outdir, { recursive: true })
  return model
}

/**
 * Runs the key rotation once, as the schedule does on a new deployment, which creates the first signing key.
 */
async function makeSigningKey(environment: Record<string, string>): Promise<void> {
  Object.assign(process.env, environment)
  // Modules of shared/ are loaded only now, because they read the environment when they load.
  const { handler } = await import('../../functions/schedule/rotate-signing-keys.ts')
  await handler({}, { awsRequestId: 'table' })
}
