import type { RouteModel } from '../model.ts'

/** The route that matches a request, and the values of its path variables. */
export interface RouteMatch {
  route: RouteModel
  /** Values of the path variables, percent-decoded; empty for a route without variables. */
  pathParameters: Record<string, string>
}

interface CompiledRoute {
  route: RouteModel
  method: string
  segments: string[]
}

/**
 * Creates a function that chooses the route of a request as API Gateway does (guide, "Create routes for HTTP
 * APIs"): full matches before greedy ones before `$default`; among equals, fixed text before a variable, and
 * a specific method before `ANY`.
 */
export function createRouteMatcher(
  routes: RouteModel[],
): (method: string, encodedPath: string) => RouteMatch | undefined {
  const byDefault = routes.find(({ routeKey }) => routeKey === '$default')
  const compiled = routes
    .filter((route) => route !== byDefault)
    .map(compileRoute)
    .sort(compareSpecificity)
  return (method, encodedPath) => {
    const sent = encodedPath.split('/').slice(1)
    for (const { route, method: routeMethod, segments } of compiled) {
      if (routeMethod !== method && routeMethod !== 'ANY') continue
      const pathParameters = matchSegments(segments, sent)
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

function compileRoute(route: RouteModel): CompiledRoute {
  const [method = '', path = ''] = route.routeKey.split(' ')
  return { route, method, segments: path.split('/').slice(1) }
}

const isVariable = (segment: string): boolean => segment.startsWith('{')
const isGreedy = (segment: string | undefined): boolean => segment?.endsWith('+}') ?? false

function compareSpecificity(a: CompiledRoute, b: CompiledRoute): number {
  const greedy = Number(isGreedy(a.segments.at(-1))) - Number(isGreedy(b.segments.at(-1)))
  if (greedy !== 0) return greedy
  for (const [index, segment] of a.segments.entries()) {
    const other = b.segments[index]
    if (other === undefined) break
    const variable = Number(isVariable(segment)) - Number(isVariable(other))
    if (variable !== 0) return variable
  }
  return b.segments.length - a.segments.length || Number(a.method === 'ANY') - Number(b.method === 'ANY')
}

function matchSegments(segments: string[], sent: string[]): Record<string, string> | undefined {
  const greedy = isGreedy(segments.at(-1))
  if (greedy ? sent.length < segments.length : sent.length !== segments.length) return undefined
  const parameters: Record<string, string> = {}
  for (const [index, segment] of segments.entries()) {
    const rest = isGreedy(segment) ? sent.slice(index).join('/') : (sent[index] ?? '')
    if (isVariable(segment)) {
      if (rest === '') return undefined
      parameters[segment.replace(/^\{|\+?\}$/g, '')] = decodePath(rest)
    } else if (segment !== decodePath(rest)) return undefined
  }
  return parameters
}
