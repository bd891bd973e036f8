// Signs a user in with openid-client, as an app on the user's own device does, and shows a page of bills.
// With `npm start` running: npm run sample
import { once } from 'node:events'
import { createServer } from 'node:http'
import * as client from 'openid-client'

const { ISSUER = 'http://127.0.0.1:3000', CLIENT_ID = 'demo-app', PORT = '4000' } = process.env
const hints = {
  ECONNREFUSED: `Nothing answers at ${ISSUER}: start the stack, or set ISSUER to the address that "ready" prints.`,
  OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED: `${ISSUER} is not the issuer: set ISSUER to the address that "ready" prints.`,
  EADDRINUSE: `Port ${PORT} is in use: set PORT to another one.`,
  access_denied: 'Access was denied.',
}
process.on('uncaughtException', ({ error, code, cause, message }) => {
  console.error(hints[error ?? cause?.code ?? code] ?? cause?.message ?? message)
  process.exit(1)
})
const config = await client.discovery(new URL(ISSUER), CLIENT_ID, undefined, client.None(), {
  // Plain http is for the local stack only.
  execute: ISSUER.startsWith('http:') ? [client.allowInsecureRequests] : [],
})
const server = createServer().listen(PORT, '127.0.0.1')
await once(server, 'listening')
const redirectUri = `http://127.0.0.1:${server.address().port}/callback`
const checks = {
  pkceCodeVerifier: client.randomPKCECodeVerifier(),
  expectedState: client.randomState(),
  expectedNonce: client.randomNonce(),
}
const address = client.buildAuthorizationUrl(config, {
  redirect_uri: redirectUri,
  scope: 'openid email account.read',
  code_challenge: await client.calculatePKCECodeChallenge(checks.pkceCodeVerifier),
  code_challenge_method: 'S256',
  state: checks.expectedState,
  nonce: checks.expectedNonce,
})
console.log(`open ${address}`)

const [request, response] = await once(server, 'request')
response.setHeader('connection', 'close').end('Go back to the terminal.')
server.close()
const tokens = await client.authorizationCodeGrant(config, new URL(request.url, redirectUri), checks)

const bills = new URL('/account/bills?current=1&size=5', ISSUER)
const answer = await client.fetchProtectedResource(config, tokens.access_token, bills, 'GET')
// Puts every amount in quotes, because an amount can have more digits than a JavaScript number.
const text = (await answer.text()).replaceAll(/"amount":([^,}]+)/g, '"amount":"$1"')
const { code, msg, data } = JSON.parse(text)
if (!answer.ok) throw new Error(`the request was answered ${answer.status}: ${code} ${msg}`)
console.log(`${tokens.claims().email} has ${data.total} bills, of which the newest are`)
for (const { business_id, amount, currency } of data.records) console.log(business_id, amount, currency)
