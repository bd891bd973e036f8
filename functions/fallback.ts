import * as v from 'valibot'
import { Failure } from '../shared/errors.ts'
import { requireEnv } from '../shared/env.ts'
import { isPreflight, preflightHeaders } from '../shared/http/cors.ts'
import { publicEndpoint } from '../shared/http/endpoint.ts'
import { Reply } from '../shared/http/reply.ts'

/** The paths of all routes, with the methods of each. */
const readRoutes = () => Object.entries(JSON.parse(requireEnv('ROUTES')) as Record<string, string[]>)

/**
 * Answers CORS preflights of every path. Rejects any other request that matches no route: 405 with the
 * allowed methods if the path exists, else 404.
 */
export const handler = publicEndpoint({
  input: v.object({}),
  output: v.never(),
  async run({ request }) {
    if (isPreflight(request)) return new Reply(204, preflightHeaders)
    const methods = readRoutes().find(([path]) => matches(path, request.rawPath))?.[1]
    // A request that matches a route gets here only if its path contains an encoded slash.
    if (methods === undefined || methods.includes(request.method)) throw new Failure('no_route')
    throw new Failure('method_not_allowed', { headers: { allow: methods.join(', ') } })
  },
})

/** Whether a request's path matches a route's path. A `{parameter}` matches any segment that is not empty. */
function matches(path: string, rawPath: string): boolean {
  const expected = path.split('/')
  const actual = rawPath.split('/')
  return (
    expected.length === actual.length &&
    expected.every((part, i) => part === actual[i] || (part.startsWith('{') && actual[i] !== ''))
  )
}
