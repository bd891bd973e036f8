import type { StackModel } from '../../../../infra/local/model.ts'

const arn = (service: string, resource: string) => `arn:aws:${service}:eu-central-1:123456789012:${resource}`
const queue = (name: string): StackModel['queues'][number] => ({
  name,
  url: '',
  arn: arn('sqs', name),
  fifo: name.endsWith('.fifo'),
  contentBasedDeduplication: false,
  visibilityTimeoutSeconds: 600,
  delaySeconds: 0,
  retentionSeconds: 345_600,
  redrive: undefined,
  policies: [],
})

/**
 * A stack for tests of persistence: a queue without a consumer, a FIFO queue, and a queue whose function
 * never answers.
 */
export const persistentStack: StackModel = {
  region: 'eu-central-1',
  accountId: '123456789012',
  functions: [
    {
      logicalId: 'Stuck',
      name: 'stuck',
      arn: arn('lambda', 'function:stuck'),
      codeDirectory: '/nowhere',
      handler: 'index.handler',
      environment: {},
      timeoutSeconds: 3,
      memoryMegabytes: 256,
      reservedConcurrency: undefined,
      roleArn: 'arn:aws:iam::123456789012:role/stuck',
      roleTags: {},
      policies: [{ Statement: [{ Effect: 'Allow', Action: 'sqs:*', Resource: '*' }] }],
    },
  ],
  roles: [],
  routes: [],
  apiId: 'api',
  apiName: 'api',
  cors: undefined,
  tables: [],
  keys: [
    {
      keyId: '11111111-2222-3333-4444-555555555555',
      arn: arn('kms', 'key/11111111-2222-3333-4444-555555555555'),
      keySpec: 'HMAC_256',
      keyUsage: 'GENERATE_VERIFY_MAC',
      description: '',
      keyPolicy: undefined,
      tags: {},
    },
  ],
  queues: [queue('idle'), queue('tree.fifo'), queue('stuck')],
  eventSources: [
    {
      queueArn: arn('sqs', 'stuck'),
      functionLogicalId: 'Stuck',
      batchSize: 10,
      batchingWindowSeconds: 0,
      maximumConcurrency: undefined,
      reportBatchItemFailures: true,
      enabled: true,
    },
  ],
  buses: [],
  rules: [],
  archives: [],
  outputs: {},
}
