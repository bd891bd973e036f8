import { App, Stack } from 'aws-cdk-lib'
import { Template } from 'aws-cdk-lib/assertions'
import { HttpApi } from 'aws-cdk-lib/aws-apigatewayv2'
import { describe, expect, it } from 'vitest'
import { readConfig } from '../../../infra/config.ts'
import { Edge } from '../../../infra/constructs/edge.ts'
import { configured } from '../../support/configured-stage.ts'
import { ofType, type Resource, type Stacks, synthesizeUnchecked, typesIn } from '../stacks/synthesize.ts'

const certificateArn = 'arn:aws:acm:us-east-1:123456789012:certificate/1'
const domain = { domainName: 'api.example.com', certificateArn }

const stacks = await synthesizeUnchecked('prod', { values: { edge: true } })
const without = await synthesizeUnchecked('prod')
const withDomain = await synthesizeUnchecked('prod', { values: { edge: true, ...domain } })

interface Behavior {
  CachePolicyId: { Ref: string }
  OriginRequestPolicyId: { Ref: string }
  ViewerProtocolPolicy: string
}
interface Distribution {
  DefaultCacheBehavior: Behavior
  CacheBehaviors: (Behavior & { PathPattern: string })[]
  CustomErrorResponses: { ErrorCachingMinTTL: number; ResponsePagePath?: string }[]
}
const distribution = (from = stacks) => {
  const [found, ...others] = ofType(from, 'AWS::CloudFront::Distribution')
  expect(others).toEqual([])
  return found?.resource.Properties['DistributionConfig'] as Distribution
}
const behaviors = () => [distribution().DefaultCacheBehavior, ...distribution().CacheBehaviors]

const find = (id: string) => stacks.get('api')?.resources[id]?.Properties ?? expect.unreachable(id)

const environments = (from = stacks) =>
  ofType(from, 'AWS::Lambda::Function')
    .filter(({ stack }) => stack === 'api')
    .map(({ resource }) => (resource.Properties['Environment'] as { Variables: object }).Variables)

describe('the public address of a stage with a CloudFront distribution (edge)', () => {
  it('requests to the edge use TLS', () => {
    expect(distribution()).toMatchObject({
      IPV6Enabled: false,
      Origins: [
        { CustomOriginConfig: { OriginProtocolPolicy: 'https-only', OriginSSLProtocols: ['TLSv1.2'] } },
      ],
    })
    for (const { ViewerProtocolPolicy: policy } of behaviors()) expect(policy).toBe('https-only')
  })

  it('requests to the edge go through its firewall', () => {
    expect(distribution()).toMatchObject({
      WebACLId: { 'Fn::GetStackOutput': { StackName: 'account-service-prod-edge-us-east-1' } },
    })
  })

  it('no stack output shows the API’s own address', () => {
    expect(JSON.stringify([...stacks.values()].map(({ outputs }) => outputs))).not.toContain('ApiEndpoint')
  })

  it('adding an edge to a stage gives the stage a new API, because the old API’s address is publicly known', () => {
    const idOf = (from: Stacks) => ofType(from, 'AWS::ApiGatewayV2::Api').map(({ id }) => id)
    expect(idOf(stacks)).not.toEqual(idOf(without))
  })

  it('the issuer of every token is the edge’s address, or the custom domain if there is one', () => {
    const [found] = ofType(stacks, 'AWS::CloudFront::Distribution')
    const address = { 'Fn::Join': ['', ['https://', { 'Fn::GetAtt': [found?.id, 'DomainName'] }]] }
    for (const variables of environments()) expect(variables).toMatchObject({ BASE_URL: address })
    for (const variables of environments(withDomain))
      expect(variables).toMatchObject({ BASE_URL: 'https://api.example.com' })
  })

  it('a custom domain belongs to the edge instead of API Gateway', () => {
    expect(distribution(withDomain)).toMatchObject({
      Aliases: ['api.example.com'],
      ViewerCertificate: { AcmCertificateArn: certificateArn, MinimumProtocolVersion: 'TLSv1.2_2021' },
    })
    expect(typesIn(withDomain)).not.toContain('AWS::ApiGatewayV2::DomainName')
    expect(withDomain.get('api')?.outputs).toHaveProperty('DomainTarget')
  })
})

describe('the edge', () => {
  const keyOf = ({ CachePolicyId: id }: Behavior) => {
    const { MaxTTL: seconds, ParametersInCacheKeyAndForwardedToOrigin: key } = find(id.Ref)[
      'CachePolicyConfig'
    ] as { MaxTTL: number; ParametersInCacheKeyAndForwardedToOrigin: object }
    return { seconds, ...key }
  }

  it('the edge forwards the headers that the service reads, the viewer’s address among them', () => {
    const policy = JSON.stringify(find(distribution().DefaultCacheBehavior.OriginRequestPolicyId.Ref))
    for (const header of ['CloudFront-Viewer-Address', 'Accept', 'Content-Type', 'Origin'])
      expect(policy).toContain(`"${header}"`)
  })

  it('the edge caches an answer for its access_token alone, a second at most', () => {
    expect(keyOf(distribution().DefaultCacheBehavior)).toMatchObject({
      seconds: 1,
      HeadersConfig: { HeaderBehavior: 'whitelist', Headers: ['Authorization'] },
      QueryStringsConfig: { QueryStringBehavior: 'all' },
    })
  })

  it('the edge stores the key set and discovery document for each Origin, with strong ETags', () => {
    const [publicDocuments = expect.unreachable(), ...others] = distribution().CacheBehaviors
    expect(others).toEqual([])
    expect(publicDocuments.PathPattern).toBe('/.well-known/*')
    expect(keyOf(publicDocuments)).toMatchObject({
      EnableAcceptEncodingGzip: false,
      EnableAcceptEncodingBrotli: false,
      HeadersConfig: { HeaderBehavior: 'whitelist', Headers: ['Origin'] },
    })
  })

  it('the edge neither caches an error nor replaces it with an error page of CloudFront', () => {
    const { CustomErrorResponses: errors } = distribution()
    expect(errors.length).toBeGreaterThan(10)
    for (const { ErrorCachingMinTTL: seconds, ResponsePagePath: page } of errors)
      expect({ seconds, page }).toEqual({ seconds: 0, page: undefined })
  })
})

describe('the secret by which functions recognize requests from the edge', () => {
  const read = (secretNumber: number) => {
    const stack = new Stack(new App({ builtinCloudFormationValidation: false }), 'api')
    const config = readConfig({ stage: 'prod', edge: true, ...configured })
    const api = new HttpApi(stack, 'Api')
    const edge = new Edge(stack, 'Edge', { config, api, secretNumber, webAclArn: 'arn' })
    const reference = /Accepted\w+/.exec(JSON.stringify(stack.resolve(edge.originSecrets)))?.[0] ?? ''
    const { Resources: resources } = Template.fromStack(stack).toJSON() as {
      Resources: Record<string, Resource>
    }
    const numbers = (value: unknown) =>
      [...JSON.stringify(value).matchAll(/"EdgeSecret(\d+)[0-9A-F]{8}"/g)]
        .map(([, number]) => Number(number))
        .toSorted((a, b) => a - b)
    const sent = Object.values(resources).find(({ Type }) => Type === 'AWS::CloudFront::Distribution')
    return {
      accepted: numbers(resources[`Edge${reference}`]?.Properties['SecretString']),
      sent: numbers(sent?.Properties),
      reference,
    }
  }

  it('AWS generates the edge secret', () => {
    const generated = ofType(stacks, 'AWS::SecretsManager::Secret').flatMap(
      ({ resource }) => resource.Properties['GenerateSecretString'] ?? [],
    )
    expect(generated).toEqual(Array(2).fill({ ExcludePunctuation: true, PasswordLength: 48 }))
  })

  it('the edge sends its secret, of which its template has only a reference', () => {
    expect(JSON.stringify(distribution())).toMatch(/"HeaderName":"x-origin-secret".*\{\{resolve:secretsm/)
  })

  it('every API function accepts the edge’s secret, of which its template has only a reference', () => {
    expect(environments().length).toBeGreaterThan(24)
    for (const variables of environments())
      expect(JSON.stringify(variables)).toMatch(/"ORIGIN_SECRETS":.*\{\{resolve:secretsmanager:/)
  })

  // So no request is refused during a deployment.
  it('functions also accept the edge’s previous and next secret', () => {
    const [first, second, third] = [read(1), read(2), read(3)]
    expect(first).toMatchObject({ accepted: [1, 2], sent: [1] })
    expect(second).toMatchObject({ accepted: [1, 2, 3], sent: [2] })
    expect(third).toMatchObject({ accepted: [2, 3, 4], sent: [3] })
    // CloudFormation reads a new secret only if the reference to the secret changes.
    expect(new Set([first, second, third].map(({ reference }) => reference)).size).toBe(3)
  })

  it('every template stays below CloudFormation’s maximum of 60 references to secrets', () => {
    for (const [name, { resources }] of stacks)
      expect(JSON.stringify(resources).match(/\{\{resolve:/g)?.length ?? 0, name).toBeLessThan(60)
  })
})

it('a stage has no CloudFront distribution, firewall or edge secret unless its configuration sets `edge`', () => {
  expect([...typesIn(without)].filter((type) => /CloudFront|WAFv2|SecretsManager/.test(type))).toEqual([])
  for (const variables of environments(without)) expect(variables).not.toHaveProperty('ORIGIN_SECRETS')
})
