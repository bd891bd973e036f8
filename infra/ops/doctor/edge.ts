import * as v from 'valibot'
import { invokeFunction } from '../functions.ts'
import type { Target } from '../target.ts'
import { unknownAddress } from './api.ts'
import { type Finding, judge } from './finding.ts'

/** Header of every answer that CloudFront gives (CloudFront Developer Guide). */
const cloudFrontHeader = 'x-amz-cf-id'

/** A request as API Gateway passes it on when somebody sends it to its own address, past the edge. */
const strangersRequest = {
  version: '2.0',
  routeKey: 'POST /user/login-with-password',
  rawPath: '/user/login-with-password',
  rawQueryString: '',
  headers: {},
  requestContext: {
    requestId: 'doctor',
    http: { method: 'POST', path: '/user/login-with-password', sourceIp: '192.0.2.1' },
  },
  isBase64Encoded: false,
}

/**
 * Checks that a stage's edge is its only way in: the public address is CloudFront's, and a function refuses a
 * request that does not carry the edge's secret, from whatever address.
 */
export async function checkEdge({
  baseUrl,
  namePrefix,
}: Pick<Target, 'baseUrl' | 'namePrefix'>): Promise<Finding> {
  if (baseUrl === undefined) return unknownAddress
  const [throughEdge, pastEdge] = await Promise.all([
    fetch(`${baseUrl}/.well-known/jwks.json`, { signal: AbortSignal.timeout(10_000) }),
    invokeFunction(`${namePrefix}user-login-with-password`, strangersRequest),
  ])
  const { statusCode } = v.parse(v.object({ statusCode: v.number() }), pastEdge)
  const problems = [
    ...(throughEdge.ok ? [] : [`a request through the edge is answered ${throughEdge.status}`]),
    ...(throughEdge.headers.has(cloudFrontHeader) ? [] : [`${baseUrl} is not CloudFront’s`]),
    ...(statusCode === 403 ? [] : [`a request without the edge’s secret is answered ${statusCode}, not 403`]),
  ]
  return judge(problems, 'CloudFront answers, and functions refuse what did not come through it')
}
