import { randomBytes, randomUUID } from 'node:crypto'
import * as v from 'valibot'
import { failures } from '../../../shared/errors.ts'
import { readJwks } from '../audit/read-jwks.ts'
import { invokeFunction } from '../invoke-function.ts'
import { type Finding, judge } from './finding.ts'

const request = (url: string, options: RequestInit = {}): Promise<Response> =>
  fetch(url, { ...options, signal: AbortSignal.timeout(10_000) })

/** Checks that discovery names the API's own address as issuer, and that the JWKS has a key. */
export async function checkApi(baseUrl: string): Promise<Finding> {
  const jwks = await readJwks(baseUrl)
  if (!jwks.answered) return { ok: false, words: jwks.problem }
  return {
    ok: jwks.issuer === baseUrl && jwks.keys.length > 0,
    words: `${baseUrl} answers; issuer ${jwks.issuer}, ${jwks.keys.length} public keys`,
  }
}

/**
 * Checks that a 401 reaches the client with the header `www-authenticate` (RFC 6750 §3), because some kinds
 * of AWS endpoints rename this header.
 */
export async function checkChallenge(baseUrl: string): Promise<Finding> {
  // The path /account/info stands for all endpoints for signed-in users.
  const { status, headers } = await request(`${baseUrl}/account/info`)
  const challenge = headers.get('www-authenticate') ?? 'nothing'
  return {
    ok: status === 401 && challenge.startsWith('Bearer'),
    words: `a request without a token is answered ${status} with www-authenticate: ${challenge}`,
  }
}

/** Checks that browsers let the authorization page call the API, by the preflight of its sign-in request. */
export async function checkPage(baseUrl: string, authUrl: string | undefined): Promise<Finding> {
  if (authUrl === undefined)
    return { ok: false, words: 'its address is not known: name the file of `cdk deploy` with --outputs' }
  const { origin } = new URL(authUrl)
  const { status, headers } = await request(`${baseUrl}/user/login-with-password`, {
    method: 'OPTIONS',
    headers: {
      origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'content-type',
    },
  })
  const allowed = headers.get('access-control-allow-origin')
  return {
    ok: status === 204 && allowed === origin,
    words: `a preflight from ${origin} is answered ${status}, which lets ${allowed ?? 'nobody'} call the API`,
  }
}

const Answer = v.object({ code: v.number() })

/**
 * Checks that the service can hash passwords: Lambda's own build of Node.js may lack argon2id. The check is a
 * sign-in with an unknown address.
 */
export async function checkPasswordDigest(baseUrl: string): Promise<Finding> {
  const body = {
    email: `nobody-${randomUUID()}@example.invalid`,
    login_password: randomBytes(16).toString('hex'),
  }
  const start = performance.now()
  const answer = await request(`${baseUrl}/user/login-with-password`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  const { code } = v.parse(Answer, await answer.json())
  return {
    ok: code === failures.bad_credentials.code,
    words: `a wrong password is answered ${code} in ${Math.round(performance.now() - start)} ms`,
  }
}

/** A sign-in request that bypasses the edge, in the form in which API Gateway passes it to a function. */
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
 * Checks that all requests must pass through the edge (CloudFront distribution). The public address must
 * answer with CloudFront's header `x-amz-cf-id`. A function must refuse a request without the edge's secret.
 */
export async function checkEdge(baseUrl: string, namePrefix: string): Promise<Finding> {
  const [throughEdge, pastEdge] = await Promise.all([
    request(`${baseUrl}/.well-known/jwks.json`),
    invokeFunction(`${namePrefix}user-login-with-password`, strangersRequest),
  ])
  const { statusCode } = v.parse(v.object({ statusCode: v.number() }), pastEdge)
  const problems = [
    ...(throughEdge.ok ? [] : [`a request through the edge is answered ${throughEdge.status}`]),
    ...(throughEdge.headers.has('x-amz-cf-id') ? [] : [`${baseUrl} is not CloudFront’s`]),
    ...(statusCode === 403 ? [] : [`a request without the edge’s secret is answered ${statusCode}, not 403`]),
  ]
  return judge(problems, 'CloudFront answers, and functions refuse what did not come through it')
}
