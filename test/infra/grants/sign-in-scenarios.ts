import { consentTo } from '../../support/consent.ts'
import { addLoginTicket } from '../../support/login-tickets.ts'
import { authorizationRequest, createClient, createSession } from '../../support/oauth-clients.ts'
import { authenticatorCode, createUser, md5 } from '../../support/sign-in.ts'
import type { Scenario } from './calls.ts'

const firstParty = 'first-party'

const secret = 'a client secret of 34 characters!!'

/** A JWT with a `kid` that no key has. To find this out, a function reads the signing keys. */
const unknownToken = `${Buffer.from(JSON.stringify({ alg: 'RS256', kid: 'k'.repeat(43) })).toString('base64url')}.e30.c2ln`

const requestWithHint = async () =>
  authorizationRequest(await createClient(), { id_token_hint: unknownToken })

/** For each sign-in endpoint, a scenario that uses all its IAM grants. */
export const signInScenarios: Record<string, Scenario> = {
  'oauth2-authorize': async ({ request }) => {
    await request({ query: await requestWithHint(), expect: 302 })
  },
  'oauth2-describe-request': async ({ request }) => {
    await request({ query: await requestWithHint(), expect: 400 })
  },
  'oauth2-consent': async ({ request }) => {
    const { accessToken } = await createSession()
    await request({ json: authorizationRequest(await createClient()), token: accessToken })
    await request({ json: await requestWithHint(), token: accessToken, expect: 400 })
  },
  'oauth2-describe-sign-out': async ({ request }) => {
    await request({ query: { client_id: (await createClient()).clientId } })
    await request({ query: { id_token_hint: unknownToken }, expect: 400 })
  },
  'oauth2-token': async ({ request }) => {
    const exchange = await consentTo(await createClient({ secret }), await createSession())
    await request({ form: exchange })
    // The function needs permission to delete the issued access_token when the code is used a second time.
    await request({ form: exchange, expect: 400 })
  },
  'oauth2-exchange': async ({ request }) => {
    const { accessToken } = await createSession()
    await request({ json: {}, token: accessToken })
  },
  'oauth2-userinfo': async ({ request }) => {
    const { accessToken } = await createSession()
    await request({ token: accessToken })
  },
  'oauth2-revoke': async ({ request }) => {
    const { accessToken } = await createSession()
    await request({ form: { token: accessToken, client_id: firstParty } })
    const { clientId } = await createClient({ secret })
    await request({ form: { token: 'unknown', client_id: clientId, client_secret: secret } })
  },
  'well-known-jwks': ({ request }) => request(),
  'user-login-with-password': async ({ request }) => {
    // A user without authenticator gets a code by mail, so the function has the permission to request mails.
    const { email, password } = await createUser({ totp_secret: null })
    await request({ json: { email, login_password: md5('another') }, expect: 401 })
    await request({ json: { email, login_password: password } })
  },
  'user-login-2fa': async ({ request }) => {
    const user = await createUser()
    const body = async () => ({ email: user.email, login_ticket: await addLoginTicket(user, '123456') })
    await request({ json: { ...(await body()), method: 'EMAIL', validate_code: '123456' } })
    const code = await authenticatorCode(user.totpSecret)
    await request({ json: { ...(await body()), method: 'AUTHENTICATOR', authenticator_code: code } })
    // At the twentieth wrong code, the function puts mail.requested on the bus, which needs a permission.
    for (let i = 1; i <= 20; i += 1) {
      const wrong = { ...(await body()), method: 'EMAIL', validate_code: '000000' }
      await request({ json: wrong, expect: i < 20 ? 401 : 429 })
    }
  },
  'user-logout': async ({ request }) => {
    const { accessToken, userId } = await createSession()
    await request({ json: { id: String(userId) }, token: accessToken })
  },
}
