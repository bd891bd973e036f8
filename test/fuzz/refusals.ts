import assert from 'node:assert/strict'

/** A request to a local stack. With a body, it is a POST of a form or of JSON. */
interface Refusal {
  path: string
  /** By default, an access_token of Alice. */
  authorization?: string
  body?: URLSearchParams | object
}

const authorizationRequest = (parameters: Record<string, string>): Refusal => ({
  path: `/oauth2/authorize/request?${new URLSearchParams({
    client_id: 'demo-app',
    redirect_uri: 'http://127.0.0.1:4000/callback',
    response_type: 'code',
    scope: 'openid',
    ...parameters,
  }).toString()}`,
})

const tokenRequest = (parameters: string): Refusal => ({
  path: '/oauth2/token',
  authorization: `Basic ${Buffer.from('demo-app:').toString('base64')}`,
  body: new URLSearchParams(`grant_type=authorization_code&code=x&${parameters}`),
})

const note = (text: string): Refusal => ({
  path: '/community/members/note',
  body: { target_user_id: 1, note: text },
})

const challenge = { code_challenge: 'x'.repeat(43), code_challenge_method: 'S256' }

/**
 * One request for each reason for which the service refuses what the schemas of the API reference allow. Most
 * of these rules compare several values, or read stored data.
 */
const refusals: Refusal[] = [
  { path: '/account/bills?current=1&size=1&beginTime=2026-01-02&endTime=2026-01-01' },
  { path: '/community/members?current=1&size=1&beginDate=2026-01-02&endDate=2026-01-01' },
  { path: '/dashboard/earnings?beginDate=2024-01-01' },
  { path: '/dashboard/earnings?beginDate=2024-01-01&endDate=2026-01-01' },
  { path: '/address/info?currency=BTC&currencyNetWork=TRC20' },
  authorizationRequest({}),
  // A challenge without a method would be one of the method plain (RFC 7636 §4.3).
  authorizationRequest({ code_challenge: challenge.code_challenge }),
  authorizationRequest({ ...challenge, prompt: 'none login' }),
  authorizationRequest({ ...challenge, id_token_hint: 'x' }),
  tokenRequest('client_id=another'),
  tokenRequest('client_secret=x'),
  // schemathesis may generate a list for an unknown parameter. A form then repeats the parameter.
  tokenRequest('unknown=1&unknown=2'),
  // No pattern that means the same in all languages can express the rules for these texts.
  { path: '/user/login-with-password', body: { email: 'nobody', login_password: '0'.repeat(32) } },
  note('\u0007'),
  note('a\u200bb'),
]

/** Sends these requests as Alice. Returns the reasons with which the service answers. */
export async function collectReasons(baseUrl: string, alice: string): Promise<string[]> {
  const reasons = await Promise.all(
    refusals.map(async ({ path, authorization = alice, body }) => {
      const isForm = body instanceof URLSearchParams
      const response = await fetch(`${baseUrl}${path}`, {
        method: body === undefined ? 'GET' : 'POST',
        headers: { authorization, ...(body && !isForm && { 'content-type': 'application/json' }) },
        ...(body && { body: isForm ? body : JSON.stringify(body) }),
      })
      const answer = (await response.json()) as { code: number; data: { errors: { reason: string }[] } }
      assert.equal(answer.code, 40001, `${path} was answered with ${answer.code}`)
      return answer.data.errors.map(({ reason }) => reason)
    }),
  )
  return reasons.flat()
}
