import { expect, it } from 'vitest'
import { bundleAuthorizationPage } from '../../../infra/bundle/page.ts'
import { ofType, synthesizeUnchecked } from '../stacks/synthesize.ts'

const certificateArn = 'arn:aws:acm:eu-central-1:123456789012:certificate/1'
const domain = { domainName: 'api.example.com', certificateArn }

await bundleAuthorizationPage()
const stacks = await synthesizeUnchecked('prod', { values: { ...domain, authUrl: undefined } })

const only = (type: string) => {
  const [found, ...others] = ofType(stacks, type)
  expect(others).toEqual([])
  return found?.resource.Properties ?? {}
}

it('an API with a custom domain answers only at that domain, over TLS 1.2', () => {
  expect(only('AWS::ApiGatewayV2::DomainName')).toMatchObject({
    DomainName: domain.domainName,
    DomainNameConfigurations: [
      { CertificateArn: certificateArn, EndpointType: 'REGIONAL', SecurityPolicy: 'TLS_1_2' },
    ],
  })
  expect(only('AWS::ApiGatewayV2::ApiMapping')).toMatchObject({ Stage: '$default' })
  expect(only('AWS::ApiGatewayV2::Api')).toMatchObject({ DisableExecuteApiEndpoint: true })
})

it('a custom domain is the token issuer in every function and in the outputs', () => {
  const issuers = ofType(stacks, 'AWS::Lambda::Function').flatMap(({ resource }) => {
    const { Environment: environment } = resource.Properties as {
      Environment?: { Variables: Record<string, unknown> }
    }
    return environment?.Variables['BASE_URL'] ?? []
  })
  expect(new Set(issuers)).toEqual(new Set(['https://api.example.com']))
  expect(stacks.get('api')?.outputs).toMatchObject({
    BaseUrl: { Value: 'https://api.example.com' },
    DomainTarget: { Value: { 'Fn::GetAtt': [expect.any(String), 'RegionalDomainName'] } },
  })
})

it('the authorization page calls the API at its custom domain', () => {
  const deployments = ofType(stacks, 'Custom::CDKBucketDeployment').map(({ resource }) => resource.Properties)
  // The page's template could get API Gateway's own address only by an import from this stack.
  expect(JSON.stringify(deployments)).not.toContain('account-service-prod-api')
})
