import { randomUUID } from 'node:crypto'
import type { Page } from 'playwright-core'
import { vi } from 'vitest'
import { authorizationRequest, createClient, exchangeRequest, pkce } from '../../support/oauth-clients.ts'
import { postForm, stack } from '../../support/oauth.ts'

/** The end of the origins of all HttpsApps. */
export const httpsAppDomain = '.app.example'

/** A registered app with an https redirect URI. The test answers the browser in the place of its server. */
export class HttpsApp {
  readonly origin = `https://${randomUUID()}${httpsAppDomain}`
  readonly #pkce = pkce()
  #client: Awaited<ReturnType<typeof createClient>> = { clientId: '', redirectUri: '' }
  readonly #answers: URL[] = []

  readonly #page: Page

  private constructor(page: Page) {
    this.#page = page
  }

  /** Registers an app, and answers its address for this page. */
  static async start(page: Page): Promise<HttpsApp> {
    const app = new HttpsApp(page)
    app.#client = await createClient({
      redirectUris: [`${app.origin}/callback`],
      postLogoutRedirectUris: [`${app.origin}/bye`],
    })
    await page.route(`${app.origin}/**`, (route) => {
      app.#answers.push(new URL(route.request().url()))
      const body =
        '<!doctype html><html lang="en"><link rel="icon" href="data:,"><title>App</title><h1>The app'
      return route.fulfill({ contentType: 'text/html', body })
    })
    return app
  }

  get clientId(): string {
    return this.#client.clientId
  }

  /** Builds the URL of an authorization request. `changes` replaces parameters. */
  authorizationUrl(changes: Record<string, string | undefined> = {}): string {
    const request = { code_challenge: this.#pkce.challenge, scope: 'openid email', ...changes }
    const query = new URLSearchParams(authorizationRequest(this.#client, request))
    return `${stack.base_url}/oauth2/authorize?${query.toString()}`
  }

  /** Waits until the browser has come back to the app. Resolves with the URL. */
  async takeAnswer(): Promise<URL> {
    const answer = await vi.waitUntil(() => this.#answers.shift(), { timeout: 20_000 })
    await this.#page.waitForURL(answer.href)
    return answer
  }

  /** Waits for an authorization response, and exchanges its code. */
  async exchange(): Promise<{ access_token: string; id_token: string }> {
    const { searchParams } = await this.takeAnswer()
    const code = searchParams.get('code')
    if (code === null) throw new Error(`the app got ${searchParams.toString()}`)
    const { status, body } = await postForm(
      '/oauth2/token',
      exchangeRequest(this.#client, code, this.#pkce.verifier),
    )
    if (status !== 200) throw new Error(`the exchange was answered ${JSON.stringify(body)}`)
    return body as { access_token: string; id_token: string }
  }

  /** Opens a request with `prompt=none`. Resolves with the error that the app gets, or `code`. */
  async askSilently(changes: Record<string, string | undefined> = {}): Promise<string> {
    await this.#page.goto(this.authorizationUrl({ prompt: 'none', ...changes }), { waitUntil: 'commit' })
    const { searchParams } = await this.takeAnswer()
    return searchParams.get('error') ?? (searchParams.has('code') ? 'code' : 'nothing')
  }
}
