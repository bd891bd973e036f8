import { expect, it } from 'vitest'
import { ofType, synthesizeUnchecked, typesIn } from './synthesize.ts'

it('auditTrail has CloudTrail record management events that nobody can delete for 400 days', async () => {
  expect(typesIn(await synthesizeUnchecked('prod'))).not.toContain('AWS::CloudTrail::Trail')
  const stacks = await synthesizeUnchecked('dev', { values: { auditTrail: true } })
  const [trail] = ofType(stacks, 'AWS::CloudTrail::Trail')
  expect(trail?.resource.Properties).toMatchObject({
    IsLogging: true,
    IsMultiRegionTrail: true,
    EnableLogFileValidation: true,
    EventSelectors: [{ IncludeManagementEvents: true, ReadWriteType: 'All' }],
  })
  const [bucket] = ofType(stacks, 'AWS::S3::Bucket').filter(({ stack }) => stack === 'audit-trail')
  expect(bucket?.resource.DeletionPolicy).toBe('RetainExceptOnCreate')
  expect(bucket?.resource.Properties).toMatchObject({
    ObjectLockEnabled: true,
    LifecycleConfiguration: { Rules: [{ Prefix: 'AWSLogs/', ExpirationInDays: 400 }] },
    ObjectLockConfiguration: { Rule: { DefaultRetention: { Mode: 'COMPLIANCE', Days: 400 } } },
    PublicAccessBlockConfiguration: {
      BlockPublicAcls: true,
      BlockPublicPolicy: true,
      RestrictPublicBuckets: true,
    },
    BucketEncryption: {
      ServerSideEncryptionConfiguration: [{ ServerSideEncryptionByDefault: { SSEAlgorithm: 'AES256' } }],
    },
  })
  const policies = ofType(stacks, 'AWS::S3::BucketPolicy').filter(({ stack }) => stack === 'audit-trail')
  expect(JSON.stringify(policies)).toContain('{"Bool":{"aws:SecureTransport":"false"}},"Effect":"Deny"')
})

it('the trail’s bucket lets the rotation add evidence copies only, the auditor list them only', async () => {
  const values = { auditTrail: true, authUrl: 'https://auth.example.com/' }
  const policies = ofType(await synthesizeUnchecked('dev', { values }), 'AWS::IAM::Policy')
  const actions = policies.flatMap(({ id, resource }) =>
    [...JSON.stringify(resource).matchAll(/"s3:\w+"/g)].map(([action]) => `${id.slice(0, 7)} ${action}`),
  )
  expect(actions).toEqual(['rotates "s3:PutObject"', 'Auditor "s3:ListBucketVersions"'])
  expect(JSON.stringify(policies)).toContain('"/evidence/*"')
})
