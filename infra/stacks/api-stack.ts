import { CfnOutput, CrossStackReferences, ReferenceStrength, Stack } from 'aws-cdk-lib'
import type { StackProps } from 'aws-cdk-lib'
import {
  CfnRoute,
  type CfnStage,
  type DomainName,
  HttpApi,
  HttpMethod,
  HttpRoute,
  HttpRouteKey,
} from 'aws-cdk-lib/aws-apigatewayv2'
import { HttpLambdaIntegration } from 'aws-cdk-lib/aws-apigatewayv2-integrations'
import type { Construct } from 'constructs'
import type { Environment } from '../../shared/env.ts'
import type { Config } from '../config.ts'
import { addDomain } from '../constructs/custom-domain.ts'
import type { Edge } from '../constructs/edge.ts'
import type { ServiceResources } from '../constructs/grant.ts'
import { ServiceFunction } from '../constructs/service-function.ts'
import { defaultTimeoutSeconds } from '../permissions.ts'
import { type EndpointFunction, endpointFunctions } from '../endpoint-functions.ts'
import { endpointName } from '../names.ts'
import { routes } from '../routes.ts'

interface ApiStackProps extends StackProps {
  config: Config
  resources: ServiceResources
  page: { authUrl: string; signOutUrl: string | undefined; corsOrigins: string[] }
  /** Puts the edge (CloudFront distribution) in front of the API, for a stage that has an edge. */
  addEdge?: ((scope: Construct, api: HttpApi) => Edge) | undefined
}

/** The HTTP API: one function per endpoint, and a fallback function that answers every other request. */
export class ApiStack extends Stack {
  readonly api: HttpApi
  /** URL of the API, without a trailing slash. This URL is also the issuer of the API's tokens. */
  readonly baseUrl: string
  /** Names of all functions of the API, without the stage's prefix. */
  readonly functionNames: string[] = []

  constructor(scope: Construct, id: string, { config, resources, page, addEdge, ...props }: ApiStackProps) {
    super(scope, id, props)
    // With an edge (CloudFront distribution), the edge has the custom domain. Adding an edge changes the
    // API's logical id. CloudFormation then replaces the API, and the API's old address stops working.
    this.api = addEdge
      ? this.addApi('HiddenApi', config)
      : this.addApi('Api', config, addDomain(this, config))
    // Strong references (CloudFormation exports) would prevent CloudFormation from replacing the API.
    CrossStackReferences.of(this.api).produce(ReferenceStrength.WEAK)
    const edge = addEdge?.(this, this.api)
    this.baseUrl =
      edge?.baseUrl ?? (config.domainName ? `https://${config.domainName}` : this.api.apiEndpoint)
    this.addFunctions(config, {
      ...resources,
      environment: {
        ...resources.environment,
        BASE_URL: this.baseUrl,
        AUTH_URL: page.authUrl,
        CORS_ORIGINS: page.corsOrigins.join(','),
        ...(page.signOutUrl === undefined ? {} : { SIGN_OUT_URL: page.signOutUrl }),
        ...(edge ? { ORIGIN_SECRETS: edge.originSecrets } : {}),
      },
    })
    this.throttleRoutes(config)
    new CfnOutput(this, 'BaseUrl', { value: this.baseUrl })
    new CfnOutput(this, 'AuthUrl', { value: page.authUrl })
    new CfnOutput(this, 'TableName', { value: resources.table.tableName })
    new CfnOutput(this, 'FirstPartyClientId', { value: config.firstPartyClientId })
  }

  private addApi(id: string, config: Config, domain?: DomainName): HttpApi {
    return new HttpApi(this, id, {
      apiName: config.serviceName,
      // With a custom domain, API Gateway's own address is disabled. That address would be a second issuer,
      // and would bypass a firewall on the domain.
      ...(domain ? { defaultDomainMapping: { domainName: domain }, disableExecuteApiEndpoint: true } : {}),
    })
  }

  private addFunctions(config: Config, resources: ServiceResources): void {
    const integrate = (
      { entry, permissions }: Omit<EndpointFunction, 'routes'>,
      environment: Environment = {},
    ) => {
      const name = endpointName(entry)
      const { function: fn } = new ServiceFunction(this, name, {
        config,
        entry,
        name,
        permissions,
        resources,
        defaultTimeoutSeconds: defaultTimeoutSeconds.endpoint,
        environment,
      })
      this.functionNames.push(name)
      return new HttpLambdaIntegration(`${name}-integration`, fn)
    }
    for (const endpoint of endpointFunctions()) {
      const integration = integrate(endpoint)
      for (const { method, path } of endpoint.routes)
        this.api.addRoutes({ path, methods: [HttpMethod[method]], integration })
    }
    new HttpRoute(this, 'Fallback', {
      httpApi: this.api,
      routeKey: HttpRouteKey.DEFAULT,
      integration: integrate(
        { entry: 'fallback', permissions: {} },
        { ROUTES: JSON.stringify(methodsByPath()) },
      ),
    })
  }

  /** Limits the request rate of each route. The limit of an expensive route is a share of the usual limit. */
  private throttleRoutes({ throttleRate }: Config): void {
    // API Gateway takes a rate with a fraction, but no such burst.
    const throttleBurst = Math.round(2 * throttleRate)
    const stage = this.api.defaultStage?.node.defaultChild as CfnStage
    // Each route has its own limit, so that one busy route cannot use up the limits of the whole account.
    stage.defaultRouteSettings = { throttlingRateLimit: throttleRate, throttlingBurstLimit: throttleBurst }
    const shares = new Map(
      routes.map(({ method, path, throttleShare }) => [`${method} ${path}`, throttleShare]),
    )
    const settings: Record<string, object> = {}
    for (const route of this.api.node.findAll()) {
      const share = route instanceof CfnRoute ? shares.get(route.routeKey) : undefined
      if (!(route instanceof CfnRoute) || share === undefined) continue
      // The settings have CloudFormation's capitalization, because CDK passes them on unchanged.
      settings[route.routeKey] = {
        ThrottlingRateLimit: Math.max(1, throttleRate * share),
        ThrottlingBurstLimit: Math.max(1, Math.round(throttleBurst * share)),
      }
      // Creates the stage after the routes: API Gateway rejects settings for a route that does not exist.
      stage.addResourceDependency(route)
    }
    stage.routeSettings = settings
  }
}

/** HTTP methods, keyed by path. The fallback function needs them for status 405 and the `allow` header. */
function methodsByPath(): Record<string, string[]> {
  const methods: Record<string, string[]> = {}
  for (const { method, path } of routes) (methods[path] ??= []).push(method)
  return methods
}
