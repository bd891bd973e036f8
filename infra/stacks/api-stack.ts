import { CfnOutput, Duration, Stack, type StackProps } from 'aws-cdk-lib'
import { CorsHttpMethod, HttpApi, HttpMethod, HttpRoute, HttpRouteKey } from 'aws-cdk-lib/aws-apigatewayv2'
import { HttpLambdaIntegration } from 'aws-cdk-lib/aws-apigatewayv2-integrations'
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda'
import type { Construct } from 'constructs'
import type { Config } from '../config.ts'
import { addDomain } from '../constructs/custom-domain.ts'
import { Deployer } from '../constructs/deployer.ts'
import type { ServiceResources } from '../constructs/grant.ts'
import { ServiceFunction } from '../constructs/service-function.ts'
import { throttleRoutes } from '../constructs/throttle-routes.ts'
import { routes } from '../routes.ts'

interface ApiStackProps extends StackProps {
  config: Config
  backing: ServiceResources
  /** Where users sign in, and whose pages may call the API. */
  page: { authUrl: string; corsOrigins: string[] }
}

/** What clients call: the HTTP API, a function for each endpoint, and one that answers everything else in the envelope. */
export class ApiStack extends Stack {
  readonly api: HttpApi
  /** Where clients find it, and the issuer of its tokens; without a trailing slash. */
  readonly baseUrl: string
  readonly functions: LambdaFunction[] = []

  constructor(scope: Construct, id: string, props: ApiStackProps) {
    super(scope, id, props)
    const { config } = props
    const domain = addDomain(this, config)
    this.api = new HttpApi(this, 'Api', {
      apiName: `${config.namePrefix}account-service`,
      corsPreflight: {
        allowOrigins: props.page.corsOrigins,
        allowMethods: [CorsHttpMethod.GET, CorsHttpMethod.POST],
        allowHeaders: ['authorization', 'content-type', 'accept', 'if-none-match'],
        exposeHeaders: ['x-request-id', 'retry-after', 'www-authenticate', 'content-disposition', 'etag'],
        maxAge: Duration.hours(1),
      },
      // A second address would be a second issuer, and a way around whatever stands before the first.
      ...(domain ? { defaultDomainMapping: { domainName: domain }, disableExecuteApiEndpoint: true } : {}),
    })
    this.baseUrl = config.domainName ? `https://${config.domainName}` : this.api.apiEndpoint
    const backing = {
      ...props.backing,
      environment: {
        ...props.backing.environment,
        BASE_URL: this.baseUrl,
        AUTH_URL: props.page.authUrl,
      },
    }
    const deployer = config.gradualDeployment ? new Deployer(this, 'Deployer', config) : undefined
    const integration = (
      entry: string,
      permissions: (typeof routes)[number]['permissions'],
      environment = {},
    ) => {
      const name = entry.replaceAll('/', '-')
      const { function: fn, target } = new ServiceFunction(this, name, {
        config,
        entry,
        name,
        permissions,
        backing,
        timeout: Duration.seconds(10),
        environment,
        deployer,
      })
      this.functions.push(fn)
      return new HttpLambdaIntegration(`${name}-integration`, target)
    }
    // An entry may serve several methods of its path; it is one function all the same.
    for (const entry of new Set(routes.map((route) => route.entry))) {
      const served = routes.filter((route) => route.entry === entry)
      const permissions = served[0]?.permissions ?? {}
      const target = integration(entry, permissions)
      for (const { method, path } of served) {
        this.api.addRoutes({ path, methods: [HttpMethod[method]], integration: target })
      }
    }
    throttleRoutes(this.api, config)
    new HttpRoute(this, 'Fallback', {
      httpApi: this.api,
      routeKey: HttpRouteKey.DEFAULT,
      integration: integration('fallback', {}, { ROUTES: JSON.stringify(methodsByPath()) }),
    })
    new CfnOutput(this, 'BaseUrl', { value: this.baseUrl })
    new CfnOutput(this, 'AuthUrl', { value: props.page.authUrl })
    new CfnOutput(this, 'TableName', { value: props.backing.table.tableName })
    new CfnOutput(this, 'FirstPartyClientId', { value: config.firstPartyClientId })
  }
}

/** Which methods each path knows, for the answer 405 and its `allow` header. */
function methodsByPath(): Record<string, string[]> {
  const methods: Record<string, string[]> = {}
  for (const { method, path } of routes) (methods[path] ??= []).push(method)
  return methods
}
