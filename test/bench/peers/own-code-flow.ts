import * as v from 'valibot'
import { type TestRequest, toEvent } from '../../support/call-endpoint.ts'
import {
  authorizationRequest,
  bearer,
  createClient,
  exchangeRequest,
  pkce,
} from '../../support/oauth-clients.ts'
import { authenticatorCode, createUser, newSourceIp } from '../../support/sign-in.ts'
import { FunctionProcess } from '../cold-start/function-process.ts'
import type { BenchStack } from '../stack/start-bench-stack.ts'

/** What one sign-in costs. Times are processor milliseconds of the service, without what it calls. */
export interface FlowCost {
  requests: number
  storageCalls: number
  cpu: number
  kms: number
  /** The part of `cpu` in which a password is checked. */
  passwordCpu: number
}

const functions = [
  'oauth2-authorize',
  'oauth2-describe-request',
  'user-login-with-password',
  'user-login-2fa',
  'oauth2-consent',
  'oauth2-token',
] as const

/** Signs in at this service's functions, each in its own process, as the authorization page does. */
export async function startOwnFlow({ describe, awsUrl, callsTaken }: BenchStack) {
  const processes = new Map(
    functions.map((name) => {
      const { file, environment } = describe(name, awsUrl)
      return [name, new FunctionProcess(file, environment)]
    }),
  )
  const client = await createClient()
  const sourceIp = newSourceIp()

  async function signIn(): Promise<FlowCost> {
    const { email, password, totpSecret } = await createUser()
    const before = new Map(callsTaken)
    const cost = { requests: 0, cpu: 0, passwordCpu: 0 }
    const send = async (name: (typeof functions)[number], request: TestRequest): Promise<unknown> => {
      const event = JSON.stringify(toEvent({ sourceIp, ...request }))
      const { payload, cpu } = (await processes.get(name)?.run(event)) ?? { payload: '', cpu: Number.NaN }
      const { statusCode, body = '{}' } = JSON.parse(payload) as { statusCode: number; body?: string }
      if (statusCode >= 400) throw new Error(`${name} answered ${statusCode}: ${body}`)
      cost.requests += 1
      cost.cpu += cpu
      if (name === 'user-login-with-password') cost.passwordCpu = cpu
      return JSON.parse(body || '{}')
    }
    const { verifier, challenge } = pkce()
    const asked = authorizationRequest(client, { scope: 'openid', code_challenge: challenge })
    const query = new URLSearchParams(asked).toString()
    await send('oauth2-authorize', { query })
    await send('oauth2-describe-request', { query })
    const { login_ticket } = dataOf(
      await send('user-login-with-password', { body: { email, login_password: password } }),
    )
    const second = { email, login_ticket, method: 'AUTHENTICATOR' }
    const code = await authenticatorCode(totpSecret)
    const { access_token } = dataOf(
      await send('user-login-2fa', { body: { ...second, authenticator_code: code } }),
    )
    const consented = dataOf(
      await send('oauth2-consent', { body: asked, headers: bearer(access_token ?? '') }),
    )
    const exchange = new URLSearchParams(exchangeRequest(client, consented.code ?? '', verifier)).toString()
    const tokens = await send('oauth2-token', {
      text: exchange,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    })
    v.parse(v.object({ id_token: v.string(), access_token: v.string() }), tokens)
    const taken = (service: string) => (callsTaken.get(service) ?? 0) - (before.get(service) ?? 0)
    return { ...cost, storageCalls: taken('dynamodb'), kms: taken('kms') }
  }
  const end = async () => {
    for (const fn of processes.values()) await fn.end()
  }
  return { signIn, end }
}

const Answer = v.object({
  data: v.object({
    login_ticket: v.optional(v.string()),
    access_token: v.optional(v.string()),
    code: v.optional(v.string()),
  }),
})
const dataOf = (answer: unknown) => v.parse(Answer, answer).data
