import * as v from 'valibot'
import type { FunctionModel, RouteModel, StackModel } from '../model.ts'
import { refuse } from '../startup-error.ts'
import { findFunction } from './read-functions.ts'
import { Flag, Numeric, type TemplateReader, Text, Texts } from './reader.ts'

const Api = v.object({
  Name: v.optional(Text, ''),
  CorsConfiguration: v.optional(
    v.object({
      AllowOrigins: Texts,
      AllowMethods: Texts,
      AllowHeaders: Texts,
      ExposeHeaders: Texts,
      MaxAge: v.optional(Numeric, 0),
      AllowCredentials: Flag,
    }),
  ),
})

const Integration = v.object({ IntegrationType: Text, IntegrationUri: Text, PayloadFormatVersion: Text })

const Route = v.object({
  RouteKey: Text,
  Target: v.optional(Text, ''),
  AuthorizationType: v.optional(Text, 'NONE'),
})

const Throttle = v.object({
  ThrottlingRateLimit: v.optional(Numeric),
  ThrottlingBurstLimit: v.optional(Numeric),
})

const ApiStage = v.object({
  DefaultRouteSettings: v.optional(Throttle, {}),
  RouteSettings: v.optional(v.record(v.string(), Throttle), {}),
})

/** Reads the routes of the only HTTP API in the templates, with the throttle that its stage sets for each. */
export function readRoutes(reader: TemplateReader, functions: FunctionModel[]): RouteModel[] {
  const integrations = reader.read('AWS::ApiGatewayV2::Integration', Integration)
  const throttleOf = readThrottles(reader)
  return reader.read('AWS::ApiGatewayV2::Route', Route).map(({ id, properties }) => {
    const { RouteKey: routeKey, Target: target, AuthorizationType: authorization } = properties
    if (/^ANY |\+}/.test(routeKey))
      refuse(`${id} takes any method or path, which the local stack does not know`)
    if (authorization !== 'NONE')
      refuse(`${id} has an authorizer (${authorization}), which the local stack does not know`)
    const integration =
      integrations.find(({ ref }) => target === `integrations/${ref}`) ?? refuse(`${id} has no integration`)
    const { IntegrationType, IntegrationUri: uri, PayloadFormatVersion } = integration.properties
    if (IntegrationType !== 'AWS_PROXY' || PayloadFormatVersion !== '2.0')
      refuse(`${integration.id} is not a Lambda proxy integration of payload format 2.0`)
    // The integration's URI is the ARN of the function, or the path of its Invoke operation.
    const arn = /:path\/2015-03-31\/functions\/(.+)\/invocations$/.exec(uri)?.[1] ?? uri
    const { logicalId } = findFunction(functions, arn, integration.id)
    return { routeKey, functionLogicalId: logicalId, ...throttleOf(routeKey) }
  })
}

/** Reads the only HTTP API in the templates: its id and name, and its CORS configuration if it has one. */
export function readApi(reader: TemplateReader): Pick<StackModel, 'apiId' | 'apiName' | 'cors'> {
  const apis = reader.read('AWS::ApiGatewayV2::Api', Api)
  if (apis.length > 1) refuse(`there is more than one API: ${apis.map(({ id }) => id).join(', ')}`)
  const apiId = apis[0]?.ref ?? ''
  const { Name: apiName = '', CorsConfiguration: cors } = apis[0]?.properties ?? {}
  if (cors === undefined) return { apiId, apiName, cors }
  return {
    apiId,
    apiName,
    cors: {
      allowOrigins: cors.AllowOrigins,
      allowMethods: cors.AllowMethods,
      allowHeaders: cors.AllowHeaders,
      exposeHeaders: cors.ExposeHeaders,
      maxAgeSeconds: cors.MaxAge,
      allowCredentials: cors.AllowCredentials,
    },
  }
}

function readThrottles(reader: TemplateReader): (routeKey: string) => Pick<RouteModel, 'throttle'> {
  const [stage] = reader.read('AWS::ApiGatewayV2::Stage', ApiStage)
  return (routeKey) => {
    const { ThrottlingRateLimit: rate, ThrottlingBurstLimit: burst } = {
      ...stage?.properties.DefaultRouteSettings,
      ...stage?.properties.RouteSettings[routeKey],
    }
    if (rate === undefined && burst === undefined) return {}
    const unlimited = Number.POSITIVE_INFINITY
    return { throttle: { rate: rate ?? unlimited, burst: burst ?? unlimited } }
  }
}
