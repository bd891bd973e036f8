import { App, Stack } from 'aws-cdk-lib'
import { Template } from 'aws-cdk-lib/assertions'
import { HttpApi } from 'aws-cdk-lib/aws-apigatewayv2'
import { beforeAll, describe, expect, it } from 'vitest'
import { readConfig } from '../../../infra/config.ts'
import { Edge } from '../../../infra/constructs/edge.ts'
import { configured } from '../../support/configured-stage.ts'
import { makeBundleDirectories } from '../../support/bundle-directories.ts'
import { ofType, type Resource, type Stacks, synthesizeUnchecked, typesIn } from '../stacks/synthesize.ts'

const certificateArn = 'arn:aws:acm:us-east-1:123456789012:certificate/1'
const domain = { domainName: 'api.example.com', certificateArn }

let stacks: Stacks
let withDomain: Stacks
let without: Stacks
beforeAll(async () => {
  makeBundleDirectories()
  stacks = await synthesizeUnchecked('prod', { values: { edge: true } })
  without = await synthesizeUnchecked('prod')
  withDomain = await synthesizeUnchecked('prod', { values: { edge: true, ...domain } })
})

const only = (type: string, from = stacks): Record<string, unknown> => {
  const [found, ...others] = ofType(from, type)
  expect(others).toEqual([])
  return found?.resource.Properties ?? {}
}

interface Behavior {
  CachePolicyId: { Ref: string }
  OriginRequestPolicyId: { Ref: string }
  AllowedMethods: string[]
  ViewerProtocolPolicy: string
}
interface Distribution {
  Aliases?: string[]
  DefaultCacheBehavior: Behavior
  CacheBehaviors: (Behavior & { PathPattern: string })[]
  Origins: { OriginCustomHeaders: { HeaderName: string; HeaderValue: unknown }[] }[]
  CustomErrorResponses: { ErrorCode: number; ErrorCachingMinTTL: number; ResponsePagePath?: string }[]
}
const distribution = (from = stacks) =>
  only('AWS::CloudFront::Distribution', from)['DistributionConfig'] as Distribution

const find = (id: string, from = stacks): Resource => {
  const found = from.get('api')?.resources[id]
  if (found === undefined) throw new Error(`the stack has no ${id}`)
  return found
}

/** The environment of every function of the API. */
const environments = (from = stacks) =>
  Object.values(from.get('api')?.resources ?? {})
    .filter(({ Type: type }) => type === 'AWS::Lambda::Function')
    .map(
      ({ Properties: properties }) =>
        (properties['Environment'] as { Variables: Record<string, unknown> }).Variables,
    )

describe('the way in', () => {
  it('goes through the firewall, over TLS only, to an address of the API that no output tells', () => {
    const config = distribution()
    expect(config).toMatchObject({
      Enabled: true,
      IPV6Enabled: false,
      WebACLId: {
        'Fn::GetStackOutput': {
          StackName: 'account-service-prod-edge-us-east-1',
          OutputName: 'WebAclArn',
          Region: 'us-east-1',
        },
      },
      Origins: [
        { CustomOriginConfig: { OriginProtocolPolicy: 'https-only', OriginSSLProtocols: ['TLSv1.2'] } },
      ],
    })
    for (const behavior of [config.DefaultCacheBehavior, ...config.CacheBehaviors])
      expect(behavior.ViewerProtocolPolicy).toBe('https-only')
    const outputs = JSON.stringify([...stacks.values()].map((stack) => stack.outputs))
    expect(outputs).not.toContain('ApiEndpoint')
  })

  it('is an API of its own: the address of one that was deployed without an edge is known to all', () => {
    const idOf = (from: Stacks) => ofType(from, 'AWS::ApiGatewayV2::Api').map(({ id }) => id)
    expect(idOf(stacks)).not.toEqual(idOf(without))
    expect(JSON.stringify(stacks.get('observability')?.resources)).not.toContain(
      'ExportsOutputRefApiF70053CD',
    )
  })

  it('is the issuer of every token: the address of the distribution, or the domain', () => {
    const [found] = ofType(stacks, 'AWS::CloudFront::Distribution')
    const address = { 'Fn::Join': ['', ['https://', { 'Fn::GetAtt': [found?.id, 'DomainName'] }]] }
    for (const variables of environments()) expect(variables['BASE_URL']).toEqual(address)
    expect(stacks.get('api')?.outputs['BaseUrl']?.Value).toEqual(address)
    for (const variables of environments(withDomain))
      expect(variables['BASE_URL']).toBe('https://api.example.com')
  })

  it('takes the domain and its certificate, and API Gateway none of them', () => {
    expect(distribution(withDomain)).toMatchObject({
      Aliases: ['api.example.com'],
      ViewerCertificate: {
        AcmCertificateArn: certificateArn,
        MinimumProtocolVersion: 'TLSv1.2_2021',
        SslSupportMethod: 'sni-only',
      },
    })
    expect(typesIn(withDomain)).not.toContain('AWS::ApiGatewayV2::DomainName')
    expect(withDomain.get('api')?.outputs).toHaveProperty('DomainTarget')
  })
})

describe('what the edge forwards and stores', () => {
  const policy = ({ CachePolicyId: id }: Behavior) =>
    find(id.Ref).Properties['CachePolicyConfig'] as Record<string, unknown>

  it('takes every method everywhere, so that the service answers those that it does not have', () => {
    const config = distribution()
    for (const behavior of [config.DefaultCacheBehavior, ...config.CacheBehaviors])
      expect(behavior.AllowedMethods.toSorted()).toEqual(
        ['DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT'].toSorted(),
      )
  })

  it('forwards the query, the headers that the service reads, and the viewer’s address; no cookies', () => {
    const { DefaultCacheBehavior: behavior } = distribution()
    expect(find(behavior.OriginRequestPolicyId.Ref).Properties).toMatchObject({
      OriginRequestPolicyConfig: {
        HeadersConfig: {
          HeaderBehavior: 'whitelist',
          Headers: expect.arrayContaining([
            'CloudFront-Viewer-Address',
            'Accept',
            'Content-Type',
            'Origin',
            'Access-Control-Request-Method',
            'Access-Control-Request-Headers',
          ]) as unknown,
        },
        QueryStringsConfig: { QueryStringBehavior: 'all' },
        CookiesConfig: { CookieBehavior: 'none' },
      },
    })
  })

  it('stores nothing that does not say so, and keeps what two tokens see apart', () => {
    expect(policy(distribution().DefaultCacheBehavior)).toMatchObject({
      MinTTL: 0,
      DefaultTTL: 0,
      MaxTTL: 1,
      ParametersInCacheKeyAndForwardedToOrigin: {
        HeadersConfig: { HeaderBehavior: 'whitelist', Headers: ['Authorization'] },
        QueryStringsConfig: { QueryStringBehavior: 'all' },
      },
    })
  })

  it('stores no failure, and replaces none by a page of its own', () => {
    const { CustomErrorResponses: errors } = distribution()
    expect(errors.map(({ ErrorCode: status }) => status)).toEqual([
      400, 403, 404, 405, 414, 416, 500, 501, 502, 503, 504,
    ])
    for (const { ErrorCachingMinTTL: seconds, ResponsePagePath: page } of errors)
      expect({ seconds, page }).toEqual({ seconds: 0, page: undefined })
  })

  it('stores the key set and the discovery document as long as they allow, for each origin that asks', () => {
    const [publicDocuments, ...others] = distribution().CacheBehaviors
    expect(others).toEqual([])
    expect(publicDocuments?.PathPattern).toBe('/.well-known/*')
    expect(publicDocuments && policy(publicDocuments)).toMatchObject({
      MinTTL: 0,
      DefaultTTL: 0,
      MaxTTL: 86_400,
      ParametersInCacheKeyAndForwardedToOrigin: {
        // A compressed answer would lose its strong ETag.
        EnableAcceptEncodingGzip: false,
        EnableAcceptEncodingBrotli: false,
        HeadersConfig: { HeaderBehavior: 'whitelist', Headers: ['Origin'] },
        QueryStringsConfig: { QueryStringBehavior: 'none' },
        CookiesConfig: { CookieBehavior: 'none' },
      },
    })
  })
})

describe('the secret of the edge', () => {
  /** The numbers of the secrets that functions accept and that the distribution sends. */
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

  it('is generated, and in no template in clear', () => {
    const [header] = distribution().Origins[0]?.OriginCustomHeaders ?? []
    expect(header).toEqual({
      HeaderName: 'x-origin-secret',
      HeaderValue: {
        'Fn::Join': [
          '',
          ['{{resolve:secretsmanager:', { Ref: expect.any(String) as string }, ':SecretString:::}}'],
        ],
      },
    })
    const generated = ofType(stacks, 'AWS::SecretsManager::Secret').filter(
      ({ resource }) => resource.Properties['GenerateSecretString'] !== undefined,
    )
    expect(generated).toHaveLength(2)
    for (const { resource } of generated)
      expect(resource.Properties['GenerateSecretString']).toEqual({
        ExcludePunctuation: true,
        PasswordLength: 48,
      })
  })

  it('every function of the API accepts it', () => {
    expect(environments().length).toBeGreaterThan(24)
    for (const variables of environments())
      expect(JSON.stringify(variables['ORIGIN_SECRETS'])).toContain('{{resolve:secretsmanager:')
  })

  it('the secrets before and after the one that is sent are accepted, so no deployment shuts anybody out', () => {
    const [first, second, third] = [read(1), read(2), read(3)]
    expect(first).toMatchObject({ accepted: [1, 2], sent: [1] })
    expect(second).toMatchObject({ accepted: [1, 2, 3], sent: [2] })
    expect(third).toMatchObject({ accepted: [2, 3, 4], sent: [3] })
    // CloudFormation reads a secret again only if the reference is another one.
    expect(new Set([first, second, third].map(({ reference }) => reference)).size).toBe(3)
  })

  it('no template has more than the 60 references to secrets that CloudFormation resolves', () => {
    for (const [name, { resources }] of stacks)
      expect(JSON.stringify(resources).match(/\{\{resolve:/g)?.length ?? 0, name).toBeLessThan(60)
  })
})

describe('readConfig with an edge', () => {
  it.each([
    ['the local stack', { stage: 'local' }, /edge is for deployments/],
    [
      'a certificate that CloudFront cannot use',
      { ...domain, certificateArn: 'arn:aws:acm:eu-central-1:123456789012:certificate/1' },
      /certificateArn must be in us-east-1/,
    ],
    ['a topic in another region', { edge: { alarmTopicArn: 'arn:aws:sns:eu-central-1:1:x' } }, /edge/],
    ['a rate below WAF’s least', { edge: { rate: 9 } }, /edge/],
    ['a secret without a number', { edge: { secretNumber: 0 } }, /edge/],
  ])('readConfig rejects %s', (_what, values, message) => {
    expect(() => readConfig({ stage: 'prod', edge: true, ...configured, ...values })).toThrow(message)
  })
})

it('without the knob, a stage has no edge', () => {
  const all = [...without.values()].flatMap(({ resources }) => Object.values(resources))
  const types = [...new Set(all.map(({ Type: type }) => type))]
  expect(types.filter((type) => /CloudFront|WAFv2|SecretsManager/.test(type))).toEqual([])
  for (const variables of environments(without)) expect(variables).not.toHaveProperty('ORIGIN_SECRETS')
})
