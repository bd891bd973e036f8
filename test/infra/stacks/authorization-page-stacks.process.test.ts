import { App } from 'aws-cdk-lib'
import { Match, Template } from 'aws-cdk-lib/assertions'
import { expect, it } from 'vitest'
import { bundleAuthorizationPage } from '../../../infra/bundle/page.ts'
import { readConfig } from '../../../infra/config.ts'
import {
  AuthorizationPageContentStack,
  AuthorizationPageStack,
} from '../../../infra/stacks/authorization-page-stacks.ts'
import { configured } from '../../support/configured-stage.ts'

await bundleAuthorizationPage()
const app = new App({ builtinCloudFormationValidation: false })
const config = readConfig({ stage: 'dev', ...configured })
const page = new AuthorizationPageStack(app, 'page', { config })
const contentTemplate = Template.fromStack(
  new AuthorizationPageContentStack(app, 'page-content', { config, page, baseUrl: 'https://api.example' }),
)
const pageTemplate = Template.fromStack(page)

it('only this CloudFront distribution can read the authorization page’s bucket', () => {
  const [distribution = ''] = Object.keys(pageTemplate.findResources('AWS::CloudFront::Distribution'))
  pageTemplate.hasResourceProperties('AWS::S3::Bucket', {
    PublicAccessBlockConfiguration: {
      BlockPublicAcls: true,
      BlockPublicPolicy: true,
      IgnorePublicAcls: true,
      RestrictPublicBuckets: true,
    },
  })
  pageTemplate.hasResourceProperties('AWS::CloudFront::OriginAccessControl', {
    OriginAccessControlConfig: { OriginAccessControlOriginType: 's3', SigningBehavior: 'always' },
  })
  pageTemplate.hasResourceProperties('AWS::S3::BucketPolicy', {
    PolicyDocument: {
      Statement: [
        Match.objectLike({ Effect: 'Deny' }),
        Match.objectLike({ Action: ['s3:PutBucketPolicy', 's3:GetBucket*', 's3:List*', 's3:DeleteObject*'] }),
        Match.objectLike({
          Action: 's3:GetObject',
          Principal: { Service: 'cloudfront.amazonaws.com' },
          Condition: {
            StringEquals: { 'AWS:SourceArn': { 'Fn::Join': ['', Match.arrayWith([{ Ref: distribution }])] } },
          },
        }),
      ],
    },
  })
})

it('CloudFront serves the authorization page over HTTPS only, with strict CSP and COOP', () => {
  pageTemplate.hasResourceProperties('AWS::CloudFront::Distribution', {
    DistributionConfig: { DefaultCacheBehavior: { ViewerProtocolPolicy: 'redirect-to-https' } },
  })
  pageTemplate.hasResourceProperties('AWS::CloudFront::ResponseHeadersPolicy', {
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
      CustomHeadersConfig: {
        Items: Match.arrayWith([
          { Header: 'cross-origin-opener-policy', Value: 'same-origin', Override: true },
        ]),
      },
    },
  })
})

it('the page’s assets, cached for ever, are uploaded before index.html, which is always revalidated', () => {
  const deployments = Object.values(contentTemplate.findResources('Custom::CDKBucketDeployment'))
  const caching = deployments.map(
    (deployment) =>
      (deployment.Properties as { SystemMetadata: Record<string, string> }).SystemMetadata['cache-control'],
  )
  expect(caching).toEqual(['public, max-age=31536000, immutable', 'no-cache'])
  contentTemplate.hasResource('Custom::CDKBucketDeployment', {
    Properties: {
      DistributionPaths: ['/', '/index.html', '/sign-out'],
      // S3 cannot tell the type of `sign-out` by its name.
      SystemMetadata: { 'content-type': 'text/html; charset=utf-8' },
    },
    DependsOn: Match.arrayWith([Match.stringLikeRegexp('^Assets')]),
  })
})
