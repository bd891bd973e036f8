import { randomInt } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { authenticatorCode } from '../support/sign-in.ts'
import { authorizationRequest, exchangeRequest, pkce } from '../support/oauth-clients.ts'
import type { Person } from './world.ts'

const client = { clientId: 'demo-app', redirectUri: 'http://127.0.0.1:4000/callback' }

const reads = [
  '/account/info',
  '/account/bills?current=1&size=20',
  '/account/bills?current=2&size=20&currency=USDT&amountDirection=1&beginTime=2026-01-01',
  '/account/asset',
  '/bonus-account/info',
  '/bonus-account/bills?current=1&size=20',
  '/community/members?type=COMMUNITY&current=1&size=20',
  '/community/members?type=COMMUNITY&keyword=load&current=1&size=20',
  '/dashboard/overview',
  '/dashboard/earnings',
  '/dashboard/network-rewards',
  '/deposit/records?current=1&size=20',
  '/oauth2/userinfo',
]

/** Clients of the API: they sign in, read and sign out, and keep what was not answered as it should be. */
export class Clients {
  readonly errors = new Map<string, number>()
  readonly milliseconds: Record<'read' | 'sign-in' | 'code flow', number[]> = {
    read: [],
    'sign-in': [],
    'code flow': [],
  }
  readonly #baseUrl: string
  readonly #people: readonly Person[]
  readonly #sessions: { token: string }[] = []

  constructor(baseUrl: string, people: readonly Person[]) {
    this.#baseUrl = baseUrl
    this.#people = people
  }

  /**
   * Lets some people sign in, read everything and let an application in, so that every function has started
   * before memory is measured, however slow the machine is.
   */
  async warmUp(): Promise<void> {
    for (const person of this.#people.slice(0, 8)) await this.#measure('sign-in', () => this.#signIn(person))
    for (const { token } of this.#sessions) {
      await Promise.all(reads.map((path) => this.#measure('read', () => this.#read(path, token))))
      await this.#measure('code flow', () => this.#letIn(token))
    }
  }

  /** Does one thing: mostly reads, sometimes lets an application in, and signs in somebody who can. */
  async act(): Promise<void> {
    const person = this.#people.find(({ nextSignIn }) => nextSignIn < Date.now())
    const session = this.#sessions[randomInt(Math.max(1, this.#sessions.length))]
    const signsIn = session === undefined || randomInt(20) === 0
    if (signsIn && person !== undefined) await this.#measure('sign-in', () => this.#signIn(person))
    else if (session !== undefined && randomInt(20) === 0)
      await this.#measure('code flow', () => this.#letIn(session.token))
    else if (session !== undefined)
      await this.#measure('read', () => this.#read(reads[randomInt(reads.length)] ?? '', session.token))
    else await wait(100)
  }

  async #measure(kind: keyof Clients['milliseconds'], act: () => Promise<void>): Promise<void> {
    const started = performance.now()
    try {
      await act()
      this.milliseconds[kind].push(performance.now() - started)
    } catch (error) {
      const text = `${kind}: ${String(error)}`
      this.errors.set(text, (this.errors.get(text) ?? 0) + 1)
    }
  }

  async #signIn(person: Person): Promise<void> {
    // The next code counts only in the next time step of 30 seconds.
    person.nextSignIn = Date.now() + 31_000
    const { email, password, totpSecret } = person
    const login = await this.#post('/user/login-with-password', { email, login_password: password })
    const second = { email, login_ticket: login['login_ticket'], method: 'AUTHENTICATOR' }
    const authenticator_code = await authenticatorCode(totpSecret)
    const { access_token: token } = await this.#post('/user/login/2fa', { ...second, authenticator_code })
    if (this.#sessions.length < this.#people.length) this.#sessions.push({ token: String(token) })
    else await this.#post('/user/logout', { id: String(person.userId) }, String(token))
  }

  async #letIn(token: string): Promise<void> {
    const { verifier, challenge } = pkce()
    const request = authorizationRequest(client, { code_challenge: challenge })
    const { code } = await this.#post('/oauth2/authorize/consent', request, token)
    await this.#post('/oauth2/token', exchangeRequest(client, String(code), verifier))
  }

  async #read(path: string, token: string): Promise<void> {
    await this.#send(path, { headers: { authorization: `Bearer ${token}` } })
  }

  #post(path: string, body: object, token?: string): Promise<Record<string, unknown>> {
    const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` }
    const headers = { 'content-type': 'application/json', ...authorization }
    return this.#send(path, { method: 'POST', headers, body: JSON.stringify(body) })
  }

  async #send(path: string, init: RequestInit): Promise<Record<string, unknown>> {
    const response = await fetch(this.#baseUrl + path, init)
    const { code, data } = (await response.json()) as { code: number; data: Record<string, unknown> }
    if (response.status !== 200)
      throw new Error(`${path.split('?')[0] ?? ''} answered ${response.status} ${code}`)
    return data
  }
}
