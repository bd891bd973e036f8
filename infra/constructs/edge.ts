import { Aws, CrossStackReferences, Duration, Fn, ReferenceStrength, SecretValue, Stack } from 'aws-cdk-lib'
import type { HttpApi } from 'aws-cdk-lib/aws-apigatewayv2'
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager'
import {
  AllowedMethods,
  CacheCookieBehavior,
  CacheHeaderBehavior,
  CachePolicy,
  type CachePolicyProps,
  CacheQueryStringBehavior,
  Distribution,
  HeadersReferrerPolicy,
  HttpVersion,
  OriginProtocolPolicy,
  OriginRequestCookieBehavior,
  OriginRequestHeaderBehavior,
  OriginRequestPolicy,
  OriginRequestQueryStringBehavior,
  OriginSslPolicy,
  ResponseHeadersPolicy,
  ViewerProtocolPolicy,
} from 'aws-cdk-lib/aws-cloudfront'
import { HttpOrigin } from 'aws-cdk-lib/aws-cloudfront-origins'
import { Secret } from 'aws-cdk-lib/aws-secretsmanager'
import { Construct } from 'constructs'
import { originSecretHeader } from '../../shared/http/require-edge.ts'
import type { Config } from '../config.ts'
import { addDomainOutputs } from './custom-domain.ts'

interface EdgeProps {
  config: Config
  api: HttpApi
  /** Number of the secret that CloudFront sends. Each rotation of the secret increments it. */
  secretNumber: number
  /** ARN of the firewall, an AWS WAF web ACL in us-east-1. */
  webAclArn: string
}

/** Error statuses whose answers CloudFront would by default cache for ten seconds and send to all clients. */
const errorStatuses = [400, 403, 404, 405, 414, 416, 500, 501, 502, 503, 504]

/** All CloudFront distributions are in the hosted zone with this id (Route 53 API Reference, AliasTarget). */
const cloudFrontZoneId = 'Z2FDTNDATAQYW2'

/**
 * CloudFront with a firewall in front of the API, and the secrets that CloudFront sends so that functions
 * recognize its requests. API, functions and edge can be in one stack, because no reference is circular:
 * functions refer to the edge, and the edge refers only to the API.
 */
export class Edge extends Construct {
  /** URL of the edge (its `domainName`, or else the distribution's host), without a trailing slash. */
  readonly baseUrl: string
  /** Secrets that functions accept, as comma-separated text; resolved by CloudFormation. */
  readonly originSecrets: string

  constructor(scope: Construct, id: string, { config, api, secretNumber, webAclArn }: EdgeProps) {
    super(scope, id)
    const { domainName, certificateArn } = config
    const secrets = this.addSecrets(secretNumber)
    this.originSecrets = secrets.accepted.unsafeUnwrap()
    // CloudFront's policy names are global. With the region in them, a stage can be deployed in two regions.
    const name = `${config.serviceName}-edge-${Aws.REGION}`
    const behavior = {
      origin: new HttpOrigin(Fn.select(2, Fn.split('/', api.apiEndpoint)), {
        protocolPolicy: OriginProtocolPolicy.HTTPS_ONLY,
        originSslProtocols: [OriginSslPolicy.TLS_V1_2],
        // Longer than API Gateway's own timeout, so that clients get API Gateway's timeout answer.
        readTimeout: Duration.seconds(35),
        customHeaders: { [originSecretHeader]: secrets.sent.unsafeUnwrap() },
      }),
      allowedMethods: AllowedMethods.ALLOW_ALL,
      viewerProtocolPolicy: ViewerProtocolPolicy.HTTPS_ONLY,
      originRequestPolicy: this.addOriginRequestPolicy(name),
      responseHeadersPolicy: this.addHeaders(name),
      compress: false,
    }
    const distribution = new Distribution(this, 'Distribution', {
      comment: `${config.stage}: edge of the API`,
      webAclId: webAclArn,
      httpVersion: HttpVersion.HTTP2_AND_3,
      // IPv6 is off: WAF counts requests per address, and a client with IPv6 can use 2^64 addresses.
      enableIpv6: false,
      ...(domainName !== undefined && certificateArn !== undefined
        ? {
            domainNames: [domainName],
            certificate: Certificate.fromCertificateArn(this, 'Certificate', certificateArn),
          }
        : {}),
      // CloudFront forwards `Authorization` only if the cache policy's maximum TTL is above zero. Still,
      // nothing is cached: answers say `no-store`, and answers without `cache-control` expire at once.
      defaultBehavior: {
        ...behavior,
        cachePolicy: this.addCachePolicy('Private', name, Duration.seconds(1), {
          headerBehavior: CacheHeaderBehavior.allowList('Authorization'),
          queryStringBehavior: CacheQueryStringBehavior.all(),
        }),
      },
      // Caches the key set and the discovery document as long as their headers allow: one copy per `Origin`.
      additionalBehaviors: {
        '/.well-known/*': {
          ...behavior,
          cachePolicy: this.addCachePolicy('Public', name, Duration.days(1), {
            headerBehavior: CacheHeaderBehavior.allowList('Origin'),
            queryStringBehavior: CacheQueryStringBehavior.none(),
          }),
        },
      },
      errorResponses: errorStatuses.map((httpStatus) => ({ httpStatus, ttl: Duration.seconds(0) })),
    })
    // References from other stacks are weak, because strong ones would prevent deletion of the distribution.
    CrossStackReferences.of(distribution).produce(ReferenceStrength.WEAK)
    this.baseUrl = `https://${domainName ?? distribution.distributionDomainName}`
    addDomainOutputs(this, config, {
      dnsName: distribution.distributionDomainName,
      hostedZoneId: cloudFrontZoneId,
    })
  }

  /**
   * Adds the secret that CloudFront sends, and the previous and the next one. Functions accept all three,
   * because CloudFront and functions may be updated in any order. A fourth secret lists the three, because a
   * template can have at most 60 references to secrets. Its id changes with `number`, because CloudFormation
   * reads a secret anew only if the reference changes.
   */
  private addSecrets(number: number): { sent: SecretValue; accepted: SecretValue } {
    const { stackName } = Stack.of(this)
    const secretOf = (n: number): SecretValue =>
      new Secret(this, `Secret${n}`, {
        description: `${stackName}: secret ${n}, by which functions know the edge`,
        generateSecretString: { excludePunctuation: true, passwordLength: 48 },
      }).secretValue
    const sent = secretOf(number)
    const others = [number - 1, number + 1].filter((n) => n > 0).map(secretOf)
    const all = [sent, ...others].map((secret) => secret.unsafeUnwrap())
    const accepted = new Secret(this, `Accepted${number}`, {
      description: `${stackName}: every secret by which functions know the edge`,
      secretStringValue: SecretValue.unsafePlainText(Fn.join(',', all)),
    }).secretValue
    return { sent, accepted }
  }

  /** The parts of a request that CloudFront forwards in addition to the cache key and standard headers. */
  private addOriginRequestPolicy(name: string): OriginRequestPolicy {
    return new OriginRequestPolicy(this, 'Forwarded', {
      originRequestPolicyName: name,
      headerBehavior: OriginRequestHeaderBehavior.allowList(
        'CloudFront-Viewer-Address',
        'Accept',
        'Access-Control-Request-Headers',
        'Access-Control-Request-Method',
        'Content-Type',
        'Origin',
        'Sec-Fetch-Dest',
        'User-Agent',
      ),
      queryStringBehavior: OriginRequestQueryStringBehavior.all(),
      cookieBehavior: OriginRequestCookieBehavior.none(),
    })
  }

  /** Adds a cache policy that ignores cookies. Answers without `cache-control` expire at once. */
  private addCachePolicy(
    id: 'Private' | 'Public',
    name: string,
    maxTtl: Duration,
    key: Pick<CachePolicyProps, 'headerBehavior' | 'queryStringBehavior'>,
  ): CachePolicy {
    const [minTtl, defaultTtl] = [Duration.seconds(0), Duration.seconds(0)]
    const cachePolicyName = `${name}-${id.toLowerCase()}`
    const cookieBehavior = CacheCookieBehavior.none()
    return new CachePolicy(this, id, { cachePolicyName, minTtl, defaultTtl, maxTtl, cookieBehavior, ...key })
  }

  /** Also adds the service's security headers to answers that CloudFront, WAF or API Gateway generates. */
  private addHeaders(name: string): ResponseHeadersPolicy {
    return new ResponseHeadersPolicy(this, 'Headers', {
      responseHeadersPolicyName: name,
      securityHeadersBehavior: {
        contentTypeOptions: { override: true },
        referrerPolicy: { referrerPolicy: HeadersReferrerPolicy.NO_REFERRER, override: true },
        strictTransportSecurity: {
          accessControlMaxAge: Duration.days(730),
          includeSubdomains: true,
          override: true,
        },
      },
    })
  }
}
