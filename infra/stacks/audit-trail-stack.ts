import { Duration, RemovalPolicy, Stack, type StackProps } from 'aws-cdk-lib'
import { PolicyStatement } from 'aws-cdk-lib/aws-iam'
import { ReadWriteType, Trail } from 'aws-cdk-lib/aws-cloudtrail'
import * as s3 from 'aws-cdk-lib/aws-s3'
import type { Construct } from 'constructs'
import { copiesPrefix } from '../../shared/aws/signing-key-names.ts'
import type { IntakeStack } from './intake-stack.ts'

const retention = Duration.days(400)

/**
 * Keeps a trail of all regions' management events, and copies of the key rotation's audit records. The bucket
 * locks each file for 400 days. Not even the account's root user can delete the file or shorten the lock (S3:
 * Locking objects, compliance mode).
 */
export class AuditTrailStack extends Stack {
  constructor(scope: Construct, id: string, { intake, ...props }: StackProps & { intake: IntakeStack }) {
    super(scope, id, props)
    // The cast is needed because CDK's types do not fit exactOptionalPropertyTypes.
    const bucket = new s3.Bucket(this, 'Bucket', {
      blockPublicAccess: s3.BlockPublicAccess.BLOCK_ALL,
      encryption: s3.BucketEncryption.S3_MANAGED,
      enforceSSL: true,
      objectLockDefaultRetention: s3.ObjectLockRetention.compliance(retention),
      // Deletes CloudTrail's files when their lock ends. The copies of audit records stay.
      lifecycleRules: [
        { prefix: 'AWSLogs/', expiration: retention, noncurrentVersionExpiration: Duration.days(1) },
      ],
      // Keeps the bucket even without `protectData`: a bucket with locked files cannot be deleted.
      removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
    }) as s3.IBucket
    new Trail(this, 'Trail', { bucket, managementEvents: ReadWriteType.ALL })
    const allow = (action: string, resource: string) =>
      new PolicyStatement({ actions: [action], resources: [resource] })
    const rotation = intake.scheduled['rotate-signing-keys']
    const address = `https://${bucket.bucketRegionalDomainName}/`
    rotation?.addEnvironment('EVIDENCE_COPIES', address)
    rotation?.addToRolePolicy(allow('s3:PutObject', bucket.arnForObjects(`${copiesPrefix}*`)))
    intake.auditor.addToPolicy(allow('s3:ListBucketVersions', bucket.bucketArn))
  }
}
