import { CfnRoute, type CfnStage, type HttpApi } from 'aws-cdk-lib/aws-apigatewayv2'
import type { Config } from '../config.ts'
import { routes } from '../routes.ts'

/** Sets the throttle of every route, for expensive ones to their share. Call it after adding the routes. */
export function throttleRoutes(api: HttpApi, { throttleRate, throttleBurst }: Config): void {
  const stage = api.defaultStage?.node.defaultChild as CfnStage
  // Throttling per route keeps one busy route from using up the limits of the whole account.
  stage.defaultRouteSettings = { throttlingRateLimit: throttleRate, throttlingBurstLimit: throttleBurst }
  const shares = new Map(
    routes.map(({ method, path, throttleShare }) => [`${method} ${path}`, throttleShare]),
  )
  const settings: Record<string, object> = {}
  for (const route of api.node.findAll()) {
    const share = route instanceof CfnRoute ? shares.get(route.routeKey) : undefined
    if (!(route instanceof CfnRoute) || share === undefined) continue
    settings[route.routeKey] = limits(throttleRate * share, throttleBurst * share)
    // API Gateway rejects a stage whose settings name a route that does not exist yet.
    stage.addResourceDependency(route)
  }
  stage.routeSettings = settings
}

/** Spelled as in CloudFormation, because CDK passes these settings on unchanged. */
const limits = (rate: number, burst: number) => ({
  ThrottlingRateLimit: Math.max(1, rate),
  ThrottlingBurstLimit: Math.max(1, Math.round(burst)),
})
