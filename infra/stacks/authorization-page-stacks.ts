import { Aws, CfnOutput, Duration, Stack, type StackProps } from 'aws-cdk-lib'
import {
  Distribution,
  HeadersFrameOption,
  HeadersReferrerPolicy,
  HttpVersion,
  ResponseHeadersPolicy,
  S3OriginAccessControl,
  ViewerProtocolPolicy,
} from 'aws-cdk-lib/aws-cloudfront'
import { S3BucketOrigin } from 'aws-cdk-lib/aws-cloudfront-origins'
import { Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import { BlockPublicAccess, Bucket, BucketEncryption, type IBucket } from 'aws-cdk-lib/aws-s3'
import { BucketDeployment, CacheControl, Source } from 'aws-cdk-lib/aws-s3-deployment'
import type { Construct } from 'constructs'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  assetCacheControl,
  customPageHeaders,
  indexCacheControl,
  pagePolicy,
} from '../authorization-page-headers.ts'
import { pageDirectory, renderIndex } from '../bundle/page.ts'
import type { Config } from '../config.ts'
import { addLogGroup, writeLogs } from '../constructs/log-group.ts'
import { removalPolicy } from '../constructs/removal-policy.ts'

/**
 * Serves the authorization page from a private S3 bucket behind CloudFront. The API's stack needs the page's
 * URL, so this stack is deployed first. The page's files need the API's URL, so AuthorizationPageContentStack
 * copies them after the API's stack.
 */
export class AuthorizationPageStack extends Stack {
  readonly bucket: IBucket
  readonly distribution: Distribution
  readonly origin: string

  constructor(scope: Construct, id: string, props: StackProps & { config: Config }) {
    super(scope, id, props)
    const { config } = props
    // The cast is needed because CDK's types do not fit exactOptionalPropertyTypes.
    this.bucket = new Bucket(this, 'Bucket', {
      blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
      encryption: BucketEncryption.S3_MANAGED,
      enforceSSL: true,
      removalPolicy: removalPolicy(config),
      autoDeleteObjects: !config.protectData,
    }) as IBucket
    // Names in CloudFront are global. This name contains the region, because two regions of a stage must not
    // share it.
    const name = `${config.serviceName}-${Aws.REGION}`
    const originAccessControl = new S3OriginAccessControl(this, 'AccessControl', {
      originAccessControlName: name,
    })
    this.distribution = new Distribution(this, 'Distribution', {
      comment: `${config.stage}: authorization page`,
      defaultBehavior: {
        origin: S3BucketOrigin.withOriginAccessControl(this.bucket, { originAccessControl }),
        viewerProtocolPolicy: ViewerProtocolPolicy.REDIRECT_TO_HTTPS,
        responseHeadersPolicy: this.addHeaders(name),
      },
      defaultRootObject: 'index.html',
      httpVersion: HttpVersion.HTTP2_AND_3,
    })
    this.origin = `https://${this.distribution.distributionDomainName}`
    new CfnOutput(this, 'AuthorizationPageUrl', { value: `${this.origin}/` })
  }

  private addHeaders(name: string): ResponseHeadersPolicy {
    return new ResponseHeadersPolicy(this, 'Headers', {
      responseHeadersPolicyName: name,
      securityHeadersBehavior: {
        // This stack does not know the API's address, so this content security policy allows any HTTPS
        // address. The policy in index.html allows only the API.
        contentSecurityPolicy: { contentSecurityPolicy: pagePolicy('https:'), override: true },
        contentTypeOptions: { override: true },
        frameOptions: { frameOption: HeadersFrameOption.DENY, override: true },
        referrerPolicy: { referrerPolicy: HeadersReferrerPolicy.NO_REFERRER, override: true },
        strictTransportSecurity: {
          accessControlMaxAge: Duration.days(365),
          includeSubdomains: true,
          override: true,
        },
      },
      customHeadersBehavior: {
        customHeaders: Object.entries(customPageHeaders).map(([header, value]) => ({
          header,
          value,
          override: true,
        })),
      },
    })
  }
}

interface AuthorizationPageContentStackProps extends StackProps {
  config: Config
  page: AuthorizationPageStack
  baseUrl: string
}

/** Copies the authorization page, and inserts the API's URL into it. The page must be bundled first. */
export class AuthorizationPageContentStack extends Stack {
  readonly page: AuthorizationPageStack

  constructor(scope: Construct, id: string, props: AuthorizationPageContentStackProps) {
    super(scope, id, props)
    const { config, page, baseUrl } = props
    this.page = page
    const logGroup = addLogGroup(this, 'Logs', config)
    const role = new Role(this, 'Role', { assumedBy: new ServicePrincipal('lambda.amazonaws.com') })
    role.addToPolicy(writeLogs(logGroup))
    // CDK creates one Lambda function for both bucket deployments, so both need the same role and log group.
    const copying = { role, logGroup }
    const assets = new BucketDeployment(this, 'Assets', {
      ...copying,
      destinationBucket: page.bucket,
      destinationKeyPrefix: 'assets',
      sources: [Source.asset(join(pageDirectory, 'assets'))],
      cacheControl: [CacheControl.fromString(assetCacheControl)],
      // Keeps the assets of earlier deployments, because pages that were opened before still request them.
      prune: false,
    })
    const index = new BucketDeployment(this, 'Index', {
      ...copying,
      destinationBucket: page.bucket,
      // The same document under both names: its script goes by the address.
      sources: ['index.html', 'sign-out'].map((name) =>
        Source.data(name, renderIndex(readFileSync(join(pageDirectory, 'index.html'), 'utf8'), baseUrl)),
      ),
      // S3 tells the type by the name's extension, and `sign-out` has none.
      contentType: 'text/html; charset=utf-8',
      cacheControl: [CacheControl.fromString(indexCacheControl)],
      prune: false,
      distribution: page.distribution,
      distributionPaths: ['/', '/index.html', '/sign-out'],
    })
    // Uploads the assets before index.html, which references them.
    index.node.addDependency(assets)
  }
}
