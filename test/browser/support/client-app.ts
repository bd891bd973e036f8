import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import * as oauth from 'oauth4webapi'
import { vi } from 'vitest'

const client: oauth.Client = { client_id: 'demo-app' }
/** Allows HTTP, because the stack answers on this machine without TLS. */
// eslint-disable-next-line @typescript-eslint/no-deprecated -- marked as deprecated only to stand out
const options = { [oauth.allowInsecureRequests]: true }

/** An OAuth client with its own server: starts a sign-in and receives the authorization response. */
export class ClientApp {
  readonly origin: string
  readonly redirectUri: string
  private readonly server: Server
  private readonly authorizationServer: oauth.AuthorizationServer
  private readonly verifier = oauth.generateRandomCodeVerifier()
  readonly state = oauth.generateRandomState()
  private readonly nonce = oauth.generateRandomNonce()
  private answer: URL | undefined

  private constructor(server: Server, authorizationServer: oauth.AuthorizationServer) {
    this.server = server
    this.authorizationServer = authorizationServer
    this.origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    this.redirectUri = `${this.origin}/callback`
  }

  static async start(baseUrl: string): Promise<ClientApp> {
    const issuer = new URL(baseUrl)
    const discovery = await oauth.discoveryRequest(issuer, options)
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const app = new ClientApp(server, await oauth.processDiscoveryResponse(issuer, discovery))
    server.on('request', (request, response) => {
      const url = new URL(request.url ?? '/', app.origin)
      if (url.pathname === '/callback') app.answer = url
      response.writeHead(200, { 'content-type': 'text/html' })
      response.end(
        '<!doctype html><html lang="en"><link rel="icon" href="data:,"><title>App</title><h1>The app',
      )
    })
    return app
  }

  /** Builds the URL of an authorization request. `changes` replaces parameters; undefined removes one. */
  async authorizationUrl(changes: Record<string, string | undefined> = {}): Promise<string> {
    const url = new URL(this.authorizationServer.authorization_endpoint ?? '')
    const parameters: Record<string, string | undefined> = {
      response_type: 'code',
      client_id: client.client_id,
      redirect_uri: this.redirectUri,
      scope: 'openid profile email account.read',
      state: this.state,
      nonce: this.nonce,
      code_challenge: await oauth.calculatePKCECodeChallenge(this.verifier),
      code_challenge_method: 'S256',
      ...changes,
    }
    for (const [name, value] of Object.entries(parameters))
      if (value !== undefined) url.searchParams.set(name, value)
    return url.href
  }

  /** Waits until the browser delivers a valid authorization response. Throws if it is an error response. */
  async takeAnswer(): Promise<URLSearchParams> {
    const answer = await vi.waitUntil(() => this.answer, { timeout: 20_000 })
    return oauth.validateAuthResponse(this.authorizationServer, client, answer, this.state)
  }

  /** Exchanges the authorization code for tokens, and returns the claims of the verified device_token. */
  async exchange(answer: URLSearchParams): Promise<oauth.IDToken> {
    const response = await oauth.authorizationCodeGrantRequest(
      this.authorizationServer,
      client,
      oauth.None(),
      answer,
      this.redirectUri,
      this.verifier,
      options,
    )
    const result = await oauth.processAuthorizationCodeResponse(this.authorizationServer, client, response, {
      expectedNonce: this.nonce,
      requireIdToken: true,
    })
    await oauth.validateApplicationLevelSignature(this.authorizationServer, response, options)
    const claims = oauth.getValidatedIdTokenClaims(result)
    if (claims === undefined) throw new Error('there is no device_token')
    return claims
  }

  [Symbol.dispose](): void {
    this.server.close()
    this.server.closeAllConnections()
  }
}
