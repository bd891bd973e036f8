import { CfnOutput, Duration, RemovalPolicy, Stack, type StackProps } from 'aws-cdk-lib'
import {
  Distribution,
  HeadersFrameOption,
  HeadersReferrerPolicy,
  HttpVersion,
  ResponseHeadersPolicy,
  ViewerProtocolPolicy,
} from 'aws-cdk-lib/aws-cloudfront'
import { S3BucketOrigin } from 'aws-cdk-lib/aws-cloudfront-origins'
import { BlockPublicAccess, Bucket, BucketEncryption, type IBucket } from 'aws-cdk-lib/aws-s3'
import type { Construct } from 'constructs'
import type { Config } from '../config.ts'
import { customPageHeaders, pagePolicy } from '../authorization-page-headers.ts'

/**
 * Where the authorization page is served: a private bucket that only CloudFront reads. What is in it comes with
 * `AuthorizationPageContentStack`: the API needs this address, and the contents need the API's.
 */
export class AuthorizationPageStack extends Stack {
  readonly bucket: IBucket
  readonly distribution: Distribution
  /** `https://` and the distribution's host, without a trailing slash. */
  readonly origin: string

  constructor(scope: Construct, id: string, props: StackProps & { config: Config }) {
    super(scope, id, props)
    // The two types differ in how an optional property may be left out, and in nothing else.
    this.bucket = new Bucket(this, 'Bucket', {
      blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
      encryption: BucketEncryption.S3_MANAGED,
      enforceSSL: true,
      // Every deployment writes the contents anew, so nothing is lost with them.
      removalPolicy: props.config.protectData ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
    }) as IBucket
    this.distribution = new Distribution(this, 'Distribution', {
      comment: `${props.config.stage}: authorization page`,
      defaultBehavior: {
        origin: S3BucketOrigin.withOriginAccessControl(this.bucket),
        viewerProtocolPolicy: ViewerProtocolPolicy.REDIRECT_TO_HTTPS,
        responseHeadersPolicy: this.addHeaders(),
      },
      defaultRootObject: 'index.html',
      httpVersion: HttpVersion.HTTP2_AND_3,
    })
    this.origin = `https://${this.distribution.distributionDomainName}`
    new CfnOutput(this, 'AuthorizationPageUrl', { value: `${this.origin}/` })
  }

  private addHeaders(): ResponseHeadersPolicy {
    return new ResponseHeadersPolicy(this, 'Headers', {
      securityHeadersBehavior: {
        // The API's address is not known yet; the page's own policy, written at deployment, narrows this to it.
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
