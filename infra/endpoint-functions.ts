import { isDeepStrictEqual } from 'node:util'
import type { Permissions } from './permissions.ts'
import { type Route, routes } from './routes.ts'

/** A Lambda function, and the routes whose requests it handles. */
export interface EndpointFunction {
  entry: string
  permissions: Permissions
  routes: Route[]
}

/**
 * Groups routes by entry (source file) into functions, in the order of the routes. Throws if routes of one
 * entry have different permissions, because the function would get only the first route's.
 */
export function endpointFunctions(all: readonly Route[] = routes): EndpointFunction[] {
  return [...Map.groupBy(all, ({ entry }) => entry)].map(([entry, served]) => {
    const [permissions = {}, ...others] = served.map((route) => route.permissions)
    if (!others.every((other) => isDeepStrictEqual(other, permissions)))
      throw new Error(`the routes of ${entry} differ in their permissions; they share one function`)
    return { entry, permissions, routes: served }
  })
}
