import type { RouteModel } from '../model.ts'

/** Whether a request may pass now; counts it when it may. */
export type Throttle = (route: RouteModel) => boolean

/** A token bucket for each route that has a limit, as API Gateway throttles: `rate` a second, `burst` at once. */
export function createThrottle(now: () => number = Date.now): Throttle {
  const buckets = new Map<string, { tokens: number; at: number }>()
  return ({ routeKey, throttle }) => {
    if (throttle === undefined) return true
    const { rate, burst } = throttle
    const instant = now()
    const { tokens, at } = buckets.get(routeKey) ?? { tokens: burst, at: instant }
    const filled = Math.min(burst, tokens + ((instant - at) / 1000) * rate)
    const passes = filled >= 1
    buckets.set(routeKey, { tokens: passes ? filled - 1 : filled, at: instant })
    return passes
  }
}
