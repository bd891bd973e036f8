import { expect, it } from 'vitest'
import { address, stack } from '../../support/oauth.ts'

it('every path answers the authorization page’s preflight; public documents depend on the origin', async () => {
  const { origin } = new URL(stack.auth_url)
  const headers = { origin, 'access-control-request-method': 'POST' }
  for (const path of ['/user/login-with-password', '/account/info', '/nowhere']) {
    const answer = await fetch(address(path), { method: 'OPTIONS', headers })
    expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([204, origin])
  }
  for (const document of ['jwks.json', 'openid-configuration'])
    for (const sent of [{}, { origin }, { 'if-none-match': '"unknown"' }]) {
      const answer = await fetch(address(`/.well-known/${document}`), { headers: sent })
      expect(answer.headers.get('vary')).toBe('origin')
    }
})
