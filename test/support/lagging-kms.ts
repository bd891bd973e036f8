import './quick-rsa-keys.ts'
import { afterAll } from 'vitest'
import { type LaggingChange, maxLagMilliseconds } from '../../infra/local/aws/kms/lag.ts'
import { openCallers } from '../../infra/local/aws/iam/callers.ts'
import { startAwsEndpoint } from '../../infra/local/aws/server.ts'
import { bindServer } from '../../infra/local/http/bind-server.ts'
import type { PolicyStatement } from '../../infra/local/model.ts'
import { requireEnv } from '../../shared/env.ts'
import { accountId, arnOf, functionModel, region, stackModel } from '../infra/local/aws/stack.ts'
import { tagsOf } from '../../infra/names.ts'
import { rotationRoleName } from '../../infra/signing-key-policy.ts'
import { keyOf, signingKey } from './read-stage.ts'

/** Delay, in milliseconds, until each kind of change in KMS is visible. */
export type Lags = Record<LaggingChange, number>

/**
 * Connects this process to a local AWS endpoint, with the permissions of rotate-signing-keys. KMS shows
 * changes after the delays in `lags`. Call this before loading modules of shared/.
 */
export async function useLaggingKms(): Promise<{ lags: Lags }> {
  const rotation = {
    ...functionModel('rotate-signing-keys', statements),
    roleArn: `arn:aws:iam::${accountId}:role/${rotationRoleName('local', region)}`,
    roleTags: tagsOf('local'),
  }
  const shared = requireEnv('AWS_ENDPOINT_URL')
  const kms: { lags: Lags } = { lags: { exists: 0, tags: 0, state: 0 } }
  const model = stackModel({ functions: [rotation], keys: [evidenceKey] })
  const callers = openCallers(model)
  const aws = await startAwsEndpoint({
    server: await bindServer(0, ''),
    model,
    callers,
    dynamodbEndpoint: shared,
    dataDirectory: undefined,
    quirks: {
      speed: 1,
      has: (quirk) => quirk === 'late-keys',
      draw: (_quirk, change) => kms.lags[change as LaggingChange] / maxLagMilliseconds,
      happens: () => false,
    },
    invoke: () => Promise.reject(new Error('there are no functions')),
  })
  const { accessKeyId, secretAccessKey } = callers.credentialsFor(rotation)
  Object.assign(process.env, {
    AWS_ENDPOINT_URL: aws.url,
    AWS_REGION: region,
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: secretAccessKey,
    SIGNING_KEY_POLICY: JSON.stringify(keyOf('local').keyPolicy),
    EVIDENCE_KEY_ID: evidenceKey.arn,
  })
  afterAll(() => aws.close())
  return kms
}

const key = arnOf('kms', 'key/*')
const evidenceKey = signingKey({})
const ours = { 'aws:ResourceTag/signing-key': 'keys-*' }

/** The rotation's grants, as in infra/constructs/grant.ts, and some grants that only the tests need. */
const statements: PolicyStatement[] = [
  { Effect: 'Allow', Action: ['dynamodb:*', 's3:PutObject', 's3:ListBucketVersions'], Resource: '*' },
  { Effect: 'Allow', Action: ['kms:CreateKey', 'kms:ListKeys'], Resource: '*' },
  { Effect: 'Allow', Action: 'kms:TagResource', Resource: key },
  { Effect: 'Allow', Action: 'kms:*', Resource: key, Condition: { StringLike: ours } },
  { Effect: 'Allow', Action: 'kms:Sign', Resource: evidenceKey.arn },
]
