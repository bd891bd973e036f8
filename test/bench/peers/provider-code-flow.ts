import { createHash, randomBytes } from 'node:crypto'
import { FunctionProcess } from '../cold-start/function-process.ts'
import { placeProgram } from './install-package.ts'
import type { FlowCost } from './own-code-flow.ts'

interface ProviderState {
  issuer: string
  redirectUri: string
  storageCalls: number
  milliseconds: number
}

/** Signs in at a server of oidc-provider in its own process. */
export function startProviderFlow(directory: string) {
  const provider = new FunctionProcess(placeProgram(directory, 'oidc-provider.mjs'), {})
  const readState = async () => JSON.parse((await provider.run('{}')).payload) as ProviderState
  return {
    async signIn(): Promise<FlowCost> {
      const before = await readState()
      const requests = await signInAtProvider(before)
      const after = await readState()
      return {
        requests,
        storageCalls: after.storageCalls - before.storageCalls,
        kms: 0,
        cpu: after.milliseconds - before.milliseconds,
        passwordCpu: 0,
      }
    },
    end: () => provider.end(),
  }
}

/** Signs in on oidc-provider's development pages as a browser does, and counts the requests. */
async function signInAtProvider({ issuer, redirectUri }: ProviderState): Promise<number> {
  const cookies = new Map<string, string>()
  let requests = 0
  const send = async (url: string, form?: Record<string, string>): Promise<Response> => {
    requests += 1
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const response = await fetch(new URL(url, issuer), {
      redirect: 'manual',
      headers: { cookie },
      ...(form && { method: 'POST', body: new URLSearchParams(form) }),
    })
    for (const text of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(text) ?? []
      if (value === '') cookies.delete(name)
      else cookies.set(name, value)
    }
    return response
  }
  const locationOf = (response: Response): string => {
    const location = response.headers.get('location')
    if (location === null) throw new Error(`oidc-provider answered ${response.status} without a redirect`)
    return location
  }
  const verifier = randomBytes(32).toString('base64url')
  const query = new URLSearchParams({
    client_id: 'bench',
    response_type: 'code',
    redirect_uri: redirectUri,
    scope: 'openid',
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
  })
  let location = locationOf(await send(`/auth?${query.toString()}`))
  for (const form of [{ prompt: 'login', login: 'somebody', password: 'any' }, { prompt: 'consent' }]) {
    const page = await (await send(location)).text()
    const action = /<form[^>]+action="([^"]+)"/.exec(page)?.[1] ?? location
    location = locationOf(await send(locationOf(await send(action, form))))
  }
  const code = new URL(location).searchParams.get('code') ?? ''
  const tokens = await send('/token', {
    grant_type: 'authorization_code',
    client_id: 'bench',
    redirect_uri: redirectUri,
    code,
    code_verifier: verifier,
  })
  if (tokens.status !== 200)
    throw new Error(`oidc-provider answered ${tokens.status}: ${await tokens.text()}`)
  return requests
}
