import './quick-rsa-keys.ts'
import { afterAll } from 'vitest'
import { type LaggingChange, maxLagMilliseconds } from '../../infra/local/aws/kms/lag.ts'
import { startAwsEndpoint } from '../../infra/local/aws/server.ts'
import type { PolicyStatement } from '../../infra/local/model.ts'
import { requireEnv } from '../../shared/env.ts'
import { arnOf, functionModel, region, stackModel } from '../infra/local/aws/stack.ts'

/** How long each kind of change lags, in milliseconds. */
export type Lags = Record<LaggingChange, number>

/**
 * Starts an AWS endpoint whose KMS lags, over the tables that all tests share, and lets this process call it
 * as the function rotate-signing-keys, with grants like its own. Call it before loading modules of shared/.
 * Lags are measured by this process's clock; `lags` in the result is for the changes to come.
 */
export async function useLaggingKms(): Promise<{ lags: Lags }> {
  const rotation = functionModel('rotate-signing-keys', statements)
  const shared = requireEnv('AWS_ENDPOINT_URL')
  const kms: { lags: Lags } = { lags: { exists: 0, tags: 0, state: 0 } }
  const aws = await startAwsEndpoint({
    port: 0,
    model: stackModel({ functions: [rotation] }),
    dynamodbEndpoint: shared,
    dataDirectory: undefined,
    manners: {
      speed: 1,
      has: (manner) => manner === 'late-keys',
      draw: (_manner, change) => kms.lags[change as LaggingChange] / maxLagMilliseconds,
      happens: () => false,
    },
    invoke: () => Promise.reject(new Error('there are no functions')),
  })
  const { accessKeyId, secretAccessKey } = aws.credentialsFor(rotation)
  Object.assign(process.env, {
    AWS_ENDPOINT_URL: aws.url,
    AWS_REGION: region,
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: secretAccessKey,
  })
  afterAll(() => aws.close())
  return kms
}

const key = arnOf('kms', 'key/*')
const ours = { 'aws:ResourceTag/signing-key': 'keys-*' }

/** The grants of the rotation, as infra/constructs/grant.ts makes them, and to list keys, for the tests. */
const statements: PolicyStatement[] = [
  { Effect: 'Allow', Action: 'dynamodb:*', Resource: '*' },
  { Effect: 'Allow', Action: ['kms:CreateKey', 'kms:ListKeys'], Resource: '*' },
  { Effect: 'Allow', Action: 'kms:TagResource', Resource: key },
  {
    Effect: 'Allow',
    Action: [
      'kms:DescribeKey',
      'kms:GetPublicKey',
      'kms:Sign',
      'kms:Verify',
      'kms:DisableKey',
      'kms:ScheduleKeyDeletion',
      'kms:ListResourceTags',
    ],
    Resource: key,
    Condition: { StringLike: ours },
  },
]
