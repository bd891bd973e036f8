import { App } from 'aws-cdk-lib'
import { Match, Template } from 'aws-cdk-lib/assertions'
import { beforeAll, describe, expect, it } from 'vitest'
import { bundleAuthorizationPage } from '../../../infra/bundle-authorization-page.ts'
import { readConfig } from '../../../infra/config.ts'
import { AuthorizationPageContentStack } from '../../../infra/stacks/authorization-page-content-stack.ts'
import { AuthorizationPageStack } from '../../../infra/stacks/authorization-page-stack.ts'

let place: Template
let content: Template
beforeAll(async () => {
  await bundleAuthorizationPage()
  const app = new App()
  const page = new AuthorizationPageStack(app, 'page', { config: readConfig({ stage: 'dev' }) })
  content = Template.fromStack(
    new AuthorizationPageContentStack(app, 'page-content', { page, baseUrl: 'https://api.example' }),
  )
  place = Template.fromStack(page)
})

describe('AuthorizationPageStack', () => {
  it('keeps the bucket private: CloudFront alone reads it, signed, for this distribution', () => {
    place.hasResourceProperties('AWS::S3::Bucket', {
      PublicAccessBlockConfiguration: {
        BlockPublicAcls: true,
        BlockPublicPolicy: true,
        IgnorePublicAcls: true,
        RestrictPublicBuckets: true,
      },
    })
    place.hasResourceProperties('AWS::CloudFront::OriginAccessControl', {
      OriginAccessControlConfig: { OriginAccessControlOriginType: 's3', SigningBehavior: 'always' },
    })
    place.hasResourceProperties('AWS::S3::BucketPolicy', {
      PolicyDocument: {
        Statement: Match.arrayWith([
          Match.objectLike({
            Action: 's3:GetObject',
            Principal: { Service: 'cloudfront.amazonaws.com' },
            Condition: { StringEquals: { 'AWS:SourceArn': Match.anyValue() } },
          }),
        ]),
      },
    })
  })

  it('sends a policy without exceptions, over HTTPS only', () => {
    place.hasResourceProperties('AWS::CloudFront::Distribution', {
      DistributionConfig: { DefaultCacheBehavior: { ViewerProtocolPolicy: 'redirect-to-https' } },
    })
    place.hasResourceProperties('AWS::CloudFront::ResponseHeadersPolicy', {
      ResponseHeadersPolicyConfig: {
        SecurityHeadersConfig: {
          ContentSecurityPolicy: {
            ContentSecurityPolicy: Match.stringLikeRegexp(
              "^default-src 'none'; script-src 'self';.*frame-ancestors 'none'",
            ),
            Override: true,
          },
          FrameOptions: { FrameOption: 'DENY' },
          ReferrerPolicy: { ReferrerPolicy: 'no-referrer' },
          StrictTransportSecurity: { AccessControlMaxAgeSec: 31_536_000 },
        },
      },
    })
  })
})

describe('AuthorizationPageContentStack', () => {
  it('puts the assets there for good, and then the page that names them, fresh each time', () => {
    const deployments = Object.values(content.findResources('Custom::CDKBucketDeployment'))
    const caching = deployments.map(
      (deployment) =>
        (deployment.Properties as { SystemMetadata: Record<string, string> }).SystemMetadata['cache-control'],
    )
    expect(caching).toEqual(['public, max-age=31536000, immutable', 'no-cache'])
    content.hasResource('Custom::CDKBucketDeployment', {
      Properties: { DistributionPaths: ['/', '/index.html'] },
      DependsOn: Match.arrayWith([Match.stringLikeRegexp('^Assets')]),
    })
  })
})
