import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { EventBridgeClient } from '@aws-sdk/client-eventbridge'
import { KMSClient } from '@aws-sdk/client-kms'
import { LambdaClient } from '@aws-sdk/client-lambda'
import { SESv2Client } from '@aws-sdk/client-sesv2'
import { SQSClient } from '@aws-sdk/client-sqs'
import { onTestFinished } from 'vitest'
import { type AwsEndpoint, type Invoke, startAwsEndpoint } from '../../../../infra/local/aws/server.ts'
import { openManners, type Manner, type Manners } from '../../../../infra/local/manners.ts'
import type { StackModel } from '../../../../infra/local/model.ts'
import { region } from './models.ts'

export * from './models.ts'

/** Manners that are on, and that happen whenever they can; draws are 0 unless `draw` is given. */
export const alwaysBad = (on: Manner[], draw = 0): Manners => ({
  speed: 1,
  has: (manner) => on.includes(manner),
  draw: () => draw,
  happens: (manner) => on.includes(manner),
})

/**
 * Starts an AWS endpoint for one test, with AWS SDK clients of the account's owner, and with `as` those of a
 * function.
 */
export async function startStack(
  model: StackModel,
  options: {
    dataDirectory?: string
    invoke?: Invoke
    dynamodbEndpoint?: string
    report?: (line: string) => void
    manners?: Manners
  } = {},
) {
  const endpoint = await startAwsEndpoint({
    port: 0,
    model,
    dynamodbEndpoint: options.dynamodbEndpoint ?? 'http://127.0.0.1:1',
    dataDirectory: options.dataDirectory,
    invoke: options.invoke ?? (async (_name, payload) => ({ payload })),
    manners: options.manners ?? openManners(),
    ...(options.report === undefined ? {} : { report: options.report }),
  })
  let closing: Promise<void> | undefined
  const close = () => (closing ??= endpoint.close())
  onTestFinished(close)
  return { endpoint, close, ...clientsOf(endpoint), as: (name: string) => clientsAs(endpoint, model, name) }
}

function clientsAs(endpoint: AwsEndpoint, model: StackModel, name: string) {
  const found = model.functions.find((item) => item.name === name)
  if (found === undefined) throw new Error(`no function ${name}`)
  return clientsOf(endpoint, endpoint.credentialsFor(found))
}

function clientsOf(
  endpoint: AwsEndpoint,
  credentials = { accessKeyId: 'AKIDOWNER', secretAccessKey: 'any' },
) {
  const config = { endpoint: endpoint.url, region, credentials, maxAttempts: 1 }
  return {
    kms: new KMSClient(config),
    sqs: new SQSClient(config),
    events: new EventBridgeClient(config),
    ses: new SESv2Client(config),
    lambda: new LambdaClient(config),
    dynamodb: new DynamoDBClient(config),
  }
}
