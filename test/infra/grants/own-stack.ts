import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { AccessRequest } from '../../../infra/local/aws/iam/authorize.ts'
import { startAwsEndpoint } from '../../../infra/local/aws/server.ts'
import { createTables } from '../../../infra/local/dynamodb/create-tables.ts'
import { startDynamodb } from '../../../infra/local/dynamodb/start-dynamodb.ts'
import { findFreePort } from '../../../infra/local/http/bind-server.ts'
import { createInvokeByName } from '../../../infra/local/runtime/invoke-by-name.ts'
import { composeEnvironment } from '../../../infra/local/runtime/function-environment.ts'
import { Runtime } from '../../../infra/local/runtime/runtime.ts'
import { buildStackModel } from '../../../infra/local/template/build-model.ts'
import { synthesizeFromBundles } from '../../support/synthesize-from-bundles.ts'

const region = 'us-east-1'
const accountId = '000000000000'

/**
 * Starts the local stack from existing bundles, without an HTTP gateway and without delivery of events. Its
 * functions are invoked directly; it notes what they access and what they log.
 */
export async function startOwnStack() {
  const directory = mkdtempSync(join(tmpdir(), 'grants-'))
  const awsPort = await findFreePort()
  const awsUrl = `http://127.0.0.1:${awsPort}`
  const [dynamodb, synthesized] = await Promise.all([
    startDynamodb(undefined),
    synthesizeFromBundles(join(directory, 'assembly'), { authUrl: 'http://127.0.0.1:1/' }),
  ])
  const model = buildStackModel(synthesized, { region, accountId, apiUrl: 'http://127.0.0.1:1', awsUrl })
  await createTables(dynamodb.endpoint, model.tables)
  const lines = new Map<string, string>()
  const accesses = new Map<string, AccessRequest[]>()
  const { functions } = model
  const runtime = new Runtime({
    functions,
    environmentOf: (item) =>
      composeEnvironment(item, region, aws.url, { ...aws.credentialsFor(item), sessionToken: 'local' }),
    log: { write: (name, line) => void lines.set(name, `${lines.get(name) ?? ''}${line}\n`) },
    limits: { maxWorkers: 6 },
  })
  const aws = await startAwsEndpoint({
    port: awsPort,
    model,
    dynamodbEndpoint: dynamodb.endpoint,
    dataDirectory: undefined,
    invoke: createInvokeByName(functions, runtime.invoke, () => undefined),
    onAccess({ arn }, access) {
      const name = arn.slice(arn.lastIndexOf('/') + 1)
      accesses.set(name, [...(accesses.get(name) ?? []), access])
    },
  })
  return {
    awsUrl: aws.url,
    functions,
    invoke: runtime.invoke,
    accessesOf: (name: string) => accesses.get(name) ?? [],
    logOf: (name: string) => lines.get(name) ?? '',
    async stop() {
      await runtime.close()
      await aws.close()
      await dynamodb.close()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}
