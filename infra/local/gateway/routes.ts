import type { RouteModel } from '../model.ts'

/** The route that matches a request, and the values of its path variables. */
export interface RouteMatch {
  route: RouteModel
  /** Values of the path variables, percent-decoded; empty for a route without variables. */
  pathParameters: Record<string, string>
}

/**
 * Creates a function that chooses the route of a request as API Gateway does (guide, "Create routes for HTTP
 * APIs"). Fixed text takes precedence over a variable, and `$default` comes last. `readRoutes` refuses greedy
 * variables and the method `ANY`.
 */
export function createRouteMatcher(
  routes: RouteModel[],
): (method: string, encodedPath: string) => RouteMatch | undefined {
  const byDefault = routes.find(({ routeKey }) => routeKey === '$default')
  const compiled = routes
    .filter((route) => route !== byDefault)
    .map((route) => {
      const [method = '', path = ''] = route.routeKey.split(' ')
      return { route, method, segments: path.split('/').slice(1) }
    })
    .sort((one, other) => countVariables(one.segments) - countVariables(other.segments))
  return (method, encodedPath) => {
    const sent = encodedPath.split('/').slice(1)
    for (const { route, method: routeMethod, segments } of compiled) {
      const pathParameters = routeMethod === method ? matchSegments(segments, sent) : undefined
      if (pathParameters !== undefined) return { route, pathParameters }
    }
    return byDefault && { route: byDefault, pathParameters: {} }
  }
}

/** Percent-decodes text, or returns it unchanged if it is malformed. */
export function decodePath(encoded: string): string {
  try {
    return decodeURIComponent(encoded)
  } catch {
    return encoded
  }
}

const isVariable = (segment: string): boolean => segment.startsWith('{')
const countVariables = (segments: string[]): number => segments.filter(isVariable).length

function matchSegments(segments: string[], sent: string[]): Record<string, string> | undefined {
  if (sent.length !== segments.length) return undefined
  const parameters: Record<string, string> = {}
  for (const [index, segment] of segments.entries()) {
    const value = decodePath(sent[index] ?? '')
    if (isVariable(segment) && value !== '') parameters[segment.slice(1, -1)] = value
    else if (segment !== value) return undefined
  }
  return parameters
}
