import { Duration, RemovalPolicy, Stack, type StackProps } from 'aws-cdk-lib'
import { ReadWriteType, Trail } from 'aws-cdk-lib/aws-cloudtrail'
import {
  BlockPublicAccess,
  Bucket,
  BucketEncryption,
  type IBucket,
  ObjectLockRetention,
} from 'aws-cdk-lib/aws-s3'
import type { Construct } from 'constructs'
import type { Config } from '../config.ts'

const retention = Duration.days(400)

/**
 * A trail of the management events of all regions. Its bucket locks each file for 400 days: in compliance
 * mode nobody, not even the account's root user, shortens that or deletes the file (S3: Locking objects).
 */
export class AuditTrailStack extends Stack {
  constructor(scope: Construct, id: string, props: StackProps & { config: Config }) {
    super(scope, id, props)
    // The cast changes no value: CDK's types do not compile with exactOptionalPropertyTypes.
    const bucket = new Bucket(this, 'Bucket', {
      blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
      encryption: BucketEncryption.S3_MANAGED,
      enforceSSL: true,
      objectLockDefaultRetention: ObjectLockRetention.compliance(retention),
      lifecycleRules: [{ expiration: retention, noncurrentVersionExpiration: Duration.days(1) }],
      // A stage without protection keeps the bucket, too: a bucket with locked files cannot be deleted.
      removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
    }) as IBucket
    new Trail(this, 'Trail', { bucket, managementEvents: ReadWriteType.ALL })
  }
}
