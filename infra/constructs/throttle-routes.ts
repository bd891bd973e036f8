import { CfnRoute, type CfnStage, type HttpApi } from 'aws-cdk-lib/aws-apigatewayv2'
import type { Config } from '../config.ts'
import { routes } from '../routes.ts'

/**
 * Throttles every route: expensive routes get a share of the stage's limits, others the whole. Call it after
 * adding the routes.
 */
export function throttleRoutes(api: HttpApi, { throttleRate }: Config): void {
  const throttleBurst = 2 * throttleRate
  const stage = api.defaultStage?.node.defaultChild as CfnStage
  // Each route has its own limit, so that one busy route cannot use up the limits of the whole account.
  stage.defaultRouteSettings = { throttlingRateLimit: throttleRate, throttlingBurstLimit: throttleBurst }
  const shares = new Map(
    routes.map(({ method, path, throttleShare }) => [`${method} ${path}`, throttleShare]),
  )
  const settings: Record<string, object> = {}
  for (const route of api.node.findAll()) {
    const share = route instanceof CfnRoute ? shares.get(route.routeKey) : undefined
    if (!(route instanceof CfnRoute) || share === undefined) continue
    settings[route.routeKey] = limits(throttleRate * share, throttleBurst * share)
    // Creates the stage after the routes: API Gateway rejects settings for a route that does not exist.
    stage.addResourceDependency(route)
  }
  stage.routeSettings = settings
}

/** Route settings with CloudFormation's capitalization, because CDK passes them on unchanged. */
const limits = (rate: number, burst: number) => ({
  ThrottlingRateLimit: Math.max(1, rate),
  ThrottlingBurstLimit: Math.max(1, Math.round(burst)),
})
