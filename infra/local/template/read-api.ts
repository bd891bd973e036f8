import * as v from 'valibot'
import { refuse } from '../startup-error.ts'
import { findFunction, type FunctionModel } from './read-functions.ts'
import { Numeric, type TemplateReader, Text, Unknown } from './reader.ts'

const Api = v.object({
  Name: v.optional(Text, ''),
  CorsConfiguration: Unknown,
})

const Integration = v.object({
  IntegrationType: v.literal('AWS_PROXY'),
  IntegrationUri: Text,
  PayloadFormatVersion: v.literal('2.0'),
})

const Route = v.object({
  RouteKey: v.pipe(v.string(), v.regex(/^(?!ANY )[^+]+$/, 'any method, or any path')),
  Target: Text,
  AuthorizationType: v.optional(v.literal('NONE')),
})

const Throttle = v.object({ ThrottlingRateLimit: Numeric, ThrottlingBurstLimit: Numeric })

const ApiStage = v.object({
  DefaultRouteSettings: v.optional(Throttle),
  RouteSettings: v.optional(v.record(v.string(), Throttle), {}),
})

/** Reads the routes of the only HTTP API in the templates, and the throttle of each route. */
export function readRoutes(reader: TemplateReader, functions: FunctionModel[]) {
  const integrations = reader.read('AWS::ApiGatewayV2::Integration', Integration)
  const [stage] = reader.read('AWS::ApiGatewayV2::Stage', ApiStage)
  return reader.read('AWS::ApiGatewayV2::Route', Route).map(({ id, properties }) => {
    const { RouteKey: routeKey, Target: target } = properties
    const integration =
      integrations.find(({ ref }) => target === `integrations/${ref}`) ?? refuse(`${id} has no integration`)
    const { name } = findFunction(functions, integration.properties.IntegrationUri, integration.id)
    const throttle = stage?.properties.RouteSettings[routeKey] ?? stage?.properties.DefaultRouteSettings
    return {
      /** API Gateway's route key: `GET /account/info`, `GET /deposit/get/{id}`, `$default`. */
      routeKey,
      functionName: name,
      /** Throttle of the route, if the API's stage sets one: requests per second, and burst. */
      ...(throttle && {
        throttle: { rate: throttle.ThrottlingRateLimit, burst: throttle.ThrottlingBurstLimit },
      }),
    }
  })
}
export type RouteModel = ReturnType<typeof readRoutes>[number]

/** Reads the only HTTP API in the templates: its id and name. */
export function readApi(reader: TemplateReader) {
  const apis = reader.read('AWS::ApiGatewayV2::Api', Api)
  if (apis.length > 1) refuse(`there is more than one API: ${apis.map(({ id }) => id).join(', ')}`)
  return { apiId: apis[0]?.ref ?? '', apiName: apis[0]?.properties.Name ?? '' }
}
