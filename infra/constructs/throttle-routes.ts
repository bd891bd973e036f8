import { CfnRoute, type CfnStage, type HttpApi } from 'aws-cdk-lib/aws-apigatewayv2'
import type { Config } from '../config.ts'
import { routes } from '../routes.ts'

/** Limits every route to the stage's throttle, and those that are dear to their share of it. Comes after the routes. */
export function throttleRoutes(api: HttpApi, { throttleRate, throttleBurst }: Config): void {
  const stage = api.defaultStage?.node.defaultChild as CfnStage
  // One busy route must not use up what the account's other APIs may do.
  stage.defaultRouteSettings = { throttlingRateLimit: throttleRate, throttlingBurstLimit: throttleBurst }
  const dear = new Map(routes.map(({ method, path, throttleShare }) => [`${method} ${path}`, throttleShare]))
  const settings: Record<string, object> = {}
  for (const route of api.node.findAll()) {
    const share = route instanceof CfnRoute ? dear.get(route.routeKey) : undefined
    if (!(route instanceof CfnRoute) || share === undefined) continue
    settings[route.routeKey] = limits(throttleRate * share, throttleBurst * share)
    // The stage is refused while a route that its settings name does not exist.
    stage.addResourceDependency(route)
  }
  stage.routeSettings = settings
}

/** CDK passes these on as they are, so they are spelled as CloudFormation does. */
const limits = (rate: number, burst: number) => ({
  ThrottlingRateLimit: Math.max(1, rate),
  ThrottlingBurstLimit: Math.max(1, Math.round(burst)),
})
