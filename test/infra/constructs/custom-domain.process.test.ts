import { beforeAll, describe, expect, it } from 'vitest'
import { bundleAuthorizationPage } from '../../../infra/bundle-authorization-page.ts'
import { bundleFunctions } from '../../../infra/bundle-functions.ts'
import { readConfig } from '../../../infra/config.ts'
import { ofType, type Stacks, synthesize } from '../synthesize.ts'

const certificateArn = 'arn:aws:acm:eu-central-1:123456789012:certificate/1'
const domain = { domainName: 'api.example.com', certificateArn }

let stacks: Stacks

beforeAll(async () => {
  await Promise.all([bundleFunctions(), bundleAuthorizationPage()])
  stacks = await synthesize('prod', {
    values: {
      ...domain,
      hostedZoneId: 'Z123',
      authorizationPage: true,
    },
  })
})

const only = (type: string) => {
  const [found, ...others] = ofType(stacks, type)
  expect(others).toEqual([])
  return found?.resource.Properties ?? {}
}

describe('an API with a domain of its own', () => {
  it('answers there over TLS 1.2, and nowhere else', () => {
    expect(only('AWS::ApiGatewayV2::DomainName')).toMatchObject({
      DomainName: domain.domainName,
      DomainNameConfigurations: [
        { CertificateArn: certificateArn, EndpointType: 'REGIONAL', SecurityPolicy: 'TLS_1_2' },
      ],
    })
    expect(only('AWS::ApiGatewayV2::ApiMapping')).toMatchObject({ Stage: '$default' })
    expect(only('AWS::ApiGatewayV2::Api')).toMatchObject({ DisableExecuteApiEndpoint: true })
  })

  it('is the issuer by that name in every function and in the outputs', () => {
    const told = ofType(stacks, 'AWS::Lambda::Function').flatMap(({ resource }) => {
      const { Environment: environment } = resource.Properties as {
        Environment?: { Variables: Record<string, unknown> }
      }
      return environment?.Variables['BASE_URL'] ?? []
    })
    expect(new Set(told)).toEqual(new Set(['https://api.example.com']))
    expect(stacks.get('api')?.outputs).toMatchObject({
      BaseUrl: { Value: 'https://api.example.com' },
      DomainTarget: { Value: { 'Fn::GetAtt': [expect.any(String), 'RegionalDomainName'] } },
    })
  })

  it('is where the authorization page looks for it', () => {
    const deployments = ofType(stacks, 'Custom::CDKBucketDeployment').map(
      ({ resource }) => resource.Properties,
    )
    // Otherwise it would import the API's own address from there.
    expect(JSON.stringify(deployments)).not.toContain('account-service-prod-api')
  })

  it('is pointed at in the zone that is named', () => {
    expect(only('AWS::Route53::RecordSet')).toMatchObject({
      HostedZoneId: 'Z123',
      Name: domain.domainName,
      Type: 'A',
      AliasTarget: { DNSName: { 'Fn::GetAtt': [expect.any(String), 'RegionalDomainName'] } },
    })
  })

  it.each([
    ['a domain without a certificate', { domainName: domain.domainName }, /go together/],
    ['a certificate without a domain', { certificateArn }, /go together/],
    ['a zone without a domain', { hostedZoneId: 'Z123' }, /hostedZoneId is for a domainName/],
    ['an address for a name', { ...domain, domainName: 'https://api.example.com' }, /domainName/],
    [
      'what is no certificate',
      { ...domain, certificateArn: 'arn:aws:iam::1:server-certificate/x' },
      /certificateArn/,
    ],
  ])('is refused as %s', (_what, values, message) => {
    expect(() => readConfig({ stage: 'prod', ...values })).toThrow(message)
  })

  it('is not for a laptop', () => {
    expect(() => readConfig({ stage: 'local', ...domain })).toThrow(/for deployments/)
  })
})
