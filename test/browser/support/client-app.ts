import * as oidc from 'openid-client'
import { vi } from 'vitest'
import { listen } from '../../support/serve-http.ts'

/** An OAuth client with its own server: starts a sign-in and receives the authorization response. */
export class ClientApp {
  readonly origin: string
  readonly redirectUri: string
  private readonly close: () => void
  private readonly config: oidc.Configuration
  private readonly pkceCodeVerifier = oidc.randomPKCECodeVerifier()
  readonly state = oidc.randomState()
  private readonly expectedNonce = oidc.randomNonce()
  private answer: URL | undefined

  private constructor(origin: string, close: () => void, config: oidc.Configuration) {
    this.close = close
    this.config = config
    this.origin = origin
    this.redirectUri = `${this.origin}/callback`
  }

  static async start(baseUrl: string): Promise<ClientApp> {
    const config = await oidc.discovery(new URL(baseUrl), 'demo-app', undefined, oidc.None(), {
      // Allows HTTP, because the stack answers on this machine without TLS.
      // eslint-disable-next-line @typescript-eslint/no-deprecated -- the deprecation only warns of plain http
      execute: [oidc.allowInsecureRequests, oidc.enableNonRepudiationChecks],
    })
    const { url: origin, close } = await listen((request, response) => {
      const url = new URL(request.url ?? '/', app.origin)
      if (url.pathname === '/callback') app.answer = url
      response.writeHead(200, { 'content-type': 'text/html' })
      response.end(
        '<!doctype html><html lang="en"><link rel="icon" href="data:,"><title>App</title><h1>The app',
      )
    })
    const app = new ClientApp(origin, close, config)
    return app
  }

  /** Builds the URL of an authorization request. `changes` replaces parameters; undefined removes one. */
  async authorizationUrl(changes: Record<string, string | undefined> = {}): Promise<string> {
    const parameters: Record<string, string | undefined> = {
      redirect_uri: this.redirectUri,
      scope: 'openid profile email account.read',
      state: this.state,
      nonce: this.expectedNonce,
      code_challenge: await oidc.calculatePKCECodeChallenge(this.pkceCodeVerifier),
      code_challenge_method: 'S256',
      ...changes,
    }
    const url = oidc.buildAuthorizationUrl(this.config, {})
    for (const [name, value] of Object.entries(parameters))
      if (value === undefined) url.searchParams.delete(name)
      else url.searchParams.set(name, value)
    return url.href
  }

  /** Waits until the browser delivers the authorization response. */
  takeAnswer = (): Promise<URL> => vi.waitUntil(() => this.answer, { timeout: 20_000 })

  /**
   * Exchanges the authorization code for tokens, and returns the verified claims of the device_token. Throws
   * if the response is an error or does not answer this app's request.
   */
  async exchange(answer: URL): Promise<oidc.IDToken> {
    const { pkceCodeVerifier, expectedNonce, state: expectedState } = this
    const checks = { pkceCodeVerifier, expectedNonce, expectedState }
    const claims = (await oidc.authorizationCodeGrant(this.config, answer, checks)).claims()
    if (claims === undefined) throw new Error('there is no device_token')
    return claims
  }

  [Symbol.dispose] = (): void => this.close()
}
