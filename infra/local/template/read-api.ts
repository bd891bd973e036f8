import { StartupError } from '../startup-error.ts'
import type { CorsModel, FunctionModel, RouteModel } from '../model.ts'
import { findFunction } from './read-functions.ts'
import type { ResolvedResource, TemplateReader } from './template-reader.ts'
import { asFlag, asNumber, asProperties, asText, asTexts } from './values.ts'

/** The routes of the one HTTP API, with the throttle that its stage sets for each. */
export function readRoutes(reader: TemplateReader, functions: FunctionModel[]): RouteModel[] {
  const apis = reader.ofType('AWS::ApiGatewayV2::Api')
  if (apis.length > 1)
    throw new StartupError(`there is more than one API: ${apis.map(({ id }) => id).join(', ')}`)
  const integrations = new Map(
    reader.ofType('AWS::ApiGatewayV2::Integration').map((resource) => [resource.ref, resource]),
  )
  const throttle = readThrottles(reader)
  return reader.ofType('AWS::ApiGatewayV2::Route').map((route) => {
    const { properties, where, id } = route
    const { AuthorizationType: authorization = 'NONE', Target: target } = properties
    if (authorization !== 'NONE')
      throw new StartupError(`${id} has an authorizer (${asText(authorization, id)}), which is unknown here`)
    const routeKey = asText(properties.RouteKey, where('RouteKey'))
    const integration = integrations.get(asText(target, where('Target')).replace('integrations/', ''))
    if (integration === undefined) throw new StartupError(`${id} has no integration`)
    const limit = throttle(routeKey)
    return {
      routeKey,
      functionLogicalId: integrated(integration, functions).logicalId,
      ...(limit === undefined ? {} : { throttle: limit }),
    }
  })
}

/** The API's CORS configuration, undefined where it has none. */
export function readCors(reader: TemplateReader): CorsModel | undefined {
  const [api] = reader.ofType('AWS::ApiGatewayV2::Api')
  if (api?.properties.CorsConfiguration === undefined) return undefined
  const where = api.where('CorsConfiguration')
  const cors = asProperties(api.properties.CorsConfiguration, where)
  return {
    allowOrigins: asTexts(cors.AllowOrigins, where),
    allowMethods: asTexts(cors.AllowMethods, where),
    allowHeaders: asTexts(cors.AllowHeaders, where),
    exposeHeaders: asTexts(cors.ExposeHeaders, where),
    maxAgeSeconds: asNumber(cors.MaxAge, where, 0),
    allowCredentials: asFlag(cors.AllowCredentials),
  }
}

function integrated(integration: ResolvedResource, functions: FunctionModel[]): FunctionModel {
  const { properties, where, id } = integration
  const { PayloadFormatVersion: version, IntegrationType: type, IntegrationUri: uri } = properties
  if (type !== 'AWS_PROXY' || version !== '2.0')
    throw new StartupError(`${id} is not a Lambda proxy integration of payload format 2.0`)
  const target = asText(uri, where('IntegrationUri'))
  // Both forms are allowed: the function's own ARN, and the path of its Invoke operation.
  const arn = /:path\/2015-03-31\/functions\/(.+)\/invocations$/.exec(target)?.[1] ?? target
  return findFunction(functions, arn, id)
}

function readThrottles(reader: TemplateReader): (routeKey: string) => RouteModel['throttle'] {
  const [stage] = reader.ofType('AWS::ApiGatewayV2::Stage')
  if (stage === undefined) return () => undefined
  const { DefaultRouteSettings: byDefault, RouteSettings: byRoute } = stage.properties
  const routes = asProperties(byRoute, stage.where('RouteSettings'))
  return (routeKey) => {
    const where = stage.where(`throttle of ${routeKey}`)
    const settings = { ...asProperties(byDefault, where), ...asProperties(routes[routeKey], where) }
    const { ThrottlingRateLimit: rate, ThrottlingBurstLimit: burst } = settings
    if (rate === undefined && burst === undefined) return undefined
    return {
      rate: asNumber(rate, where, Number.POSITIVE_INFINITY),
      burst: asNumber(burst, where, Number.POSITIVE_INFINITY),
    }
  }
}
