import { hash } from 'node:crypto'
import { createGuardrails, generate } from 'otplib'
import type { Span, World, WorldAnswer } from './world.ts'

/** What a person does with a session. */
export type SessionUse =
  'exchange' | 'consent' | 'consent, code used twice' | 'consent, code used at once' | 'logout'

/** How a person signs in. */
export interface SignInPlan {
  userId: number
  email: string
  password: string
  method: 'EMAIL' | 'AUTHENTICATOR'
  wrongCodes: number
  /** How many requests with the right code are sent at once. */
  simultaneous: number
  uses: readonly SessionUse[]
}

/** An access_token that was issued in the simulation. */
export interface GivenToken {
  userId: number
  session: string
  token: string
  /** When the token expires, epoch milliseconds. */
  expire: number
  /** From the beginning of the sign-in (or consent) until the token was issued. */
  span: Span
  /** When the token was revoked, or its session was ended. */
  ended: Span | undefined
}

/** A device_token that the service has issued. */
export interface GivenDeviceToken {
  userId: number
  client: string
  token: string
  expire: number
}

/** The answers that people got when they signed in. */
export interface SignInRecord {
  passwords: { plan: SignInPlan; code: number; attempts: number; span: Span }[]
  codes: { plan: SignInPlan; code: string; answers: number[]; isSure: boolean; span: Span }[]
  tokens: GivenToken[]
  deviceTokens: GivenDeviceToken[]
}

export const newSignInRecord = (): SignInRecord => ({
  passwords: [],
  codes: [],
  tokens: [],
  deviceTokens: [],
})

/** Password of a user, as clients send it (MD5); `version` counts its changes. */
export const passwordOf = (userId: number, version = 0): string =>
  hash('md5', `password ${userId} ${version}`)

/** TOTP secret of a user in base32. */
export const totpSecretOf = (userId: number, version = 0): string =>
  [...hash('sha256', `totp ${userId} ${version}`, 'buffer')]
    .map((byte) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'[byte % 32])
    .join('')

const authenticatorCode = (secret: string, at: number): Promise<string> =>
  generate({ secret, epoch: Math.floor(at / 1000), guardrails: createGuardrails({ MIN_SECRET_BYTES: 10 }) })

const client = { id: 'app', redirectUri: 'http://127.0.0.1:4000/callback' }

/** The registration of the client that asks for authorization codes. */
export const clientRegistration = (at: number) => ({
  client_id: client.id,
  updated_at: at,
  name: 'App',
  redirect_uris: [client.redirectUri],
  scopes: ['openid', 'email', 'account.read'],
})

/** Signs in, and uses the session. */
export async function signIn(
  world: World,
  record: SignInRecord,
  { plan, source, secret }: { plan: SignInPlan; source: string; secret: string },
): Promise<void> {
  const { userId, email, password } = plan
  const from = world.instant
  const body = { email, login_password: password }
  const { attempts, ...login } = await world.request('login', 'functions/user/login-with-password.ts', {
    body,
    sourceIp: source,
  })
  const span = { from, to: world.instant }
  record.passwords.push({ plan, code: Number(login.code), attempts, span })
  if (login.status !== 200) return
  const { login_ticket: ticket } = login.data as { login_ticket: string }
  const answer = await sendCodes(world, record, { plan, source, secret, ticket, from })
  if (answer === undefined) return
  const { access_token: token = '', device_token = '', ...rest } = answer.data as Record<string, string>
  const expire = Number(rest['expire'])
  const during = { from, to: world.instant }
  const given: GivenToken = { userId, session: token, token, expire, span: during, ended: undefined }
  record.tokens.push(given)
  record.deviceTokens.push({ userId, client: 'first-party', token: device_token, expire })
  for (const use of plan.uses) await useSession(world, record, given, use)
}

interface Factor {
  plan: SignInPlan
  source: string
  secret: string
  ticket: string
  from: Span['from']
}

/** Sends wrong codes, then the right code. Resolves with the answer that contains the tokens. */
async function sendCodes(
  world: World,
  record: SignInRecord,
  { plan, source, secret, ticket, from }: Factor,
): Promise<WorldAnswer | undefined> {
  const { email, method } = plan
  const right =
    method === 'EMAIL'
      ? await findMail(world, email, from.at)
      : await authenticatorCode(secret, world.time.now)
  if (right === undefined) return undefined
  const send = (code: string) =>
    world.request('2fa', 'functions/user/login-2fa.ts', {
      body: {
        email,
        login_ticket: ticket,
        method,
        ...(method === 'EMAIL' ? { validate_code: code } : { authenticator_code: code }),
      },
      sourceIp: source,
    })
  for (let i = 0; i < plan.wrongCodes; i += 1) {
    const began = world.instant
    const wrong = String((Number(right) + 1 + i) % 1_000_000).padStart(6, '0')
    const { code } = await send(wrong)
    const span = { from: began, to: world.instant }
    record.codes.push({ plan, code: 'wrong', answers: [Number(code)], isSure: true, span })
  }
  const began = world.instant
  const answers = await Promise.all(Array.from({ length: plan.simultaneous }, () => send(right)))
  record.codes.push({
    plan,
    code: right,
    answers: answers.map(({ code }) => Number(code)),
    isSure: answers.every(({ attempts }) => attempts === 1),
    span: { from: began, to: world.instant },
  })
  return answers.find(({ status }) => status === 200)
}

/** Waits up to a minute for a mail sent at `since` or later. Returns its code; undefined if no mail comes. */
async function findMail(world: World, to: string, since: number): Promise<string | undefined> {
  for (let seconds = 0; seconds < 60; seconds += 2) {
    const mail = world.mails.findLast((other) => other.to === to && other.at >= since)
    const code = mail && /\b\d{6}\b/.exec(mail.text)?.[0]
    if (code !== undefined) return code
    await world.time.pass(2_000)
  }
  return undefined
}

async function useSession(
  world: World,
  record: SignInRecord,
  given: GivenToken,
  use: SessionUse,
): Promise<void> {
  const { userId, session } = given
  const headers = { authorization: `Bearer ${session}` }
  if (use === 'logout') {
    const from = world.instant
    const { status } = await world.request('logout', 'functions/user/logout.ts', {
      headers,
      body: { id: String(userId) },
    })
    const span = { from, to: world.instant }
    // 200 means that the session has ended now, and 401 that it had ended before.
    if (status !== 200 && status !== 401) world.violations.push(`logout answered ${status}`)
    for (const token of record.tokens.filter((other) => other.session === session)) token.ended ??= span
    return
  }
  if (use === 'exchange') {
    const { status, data } = await world.request('exchange', 'functions/oauth2/exchange.ts', {
      headers,
      body: {},
    })
    const { device_token: token, expire } = (data ?? {}) as Record<string, string>
    if (status === 200)
      record.deviceTokens.push({ userId, client: 'first-party', token: token ?? '', expire: Number(expire) })
    return
  }
  await consentAndExchange(world, record, given, use)
}

/** Gives the client an authorization code, which it exchanges once, twice in sequence, or twice together. */
async function consentAndExchange(world: World, record: SignInRecord, given: GivenToken, use: SessionUse) {
  const { userId, session } = given
  const from = world.instant
  const verifier = hash('sha256', `verifier ${session} ${from.step}`)
  const answer = await world.request('consent', 'functions/oauth2/consent.ts', {
    headers: { authorization: `Bearer ${session}` },
    body: {
      response_type: 'code',
      client_id: client.id,
      redirect_uri: client.redirectUri,
      scope: 'openid email account.read',
      state: 'state',
      code_challenge: hash('sha256', verifier, 'base64url'),
      code_challenge_method: 'S256',
    },
  })
  if (answer.status !== 200) return
  const { code } = answer.data as { code: string }
  const exchange = () =>
    world.request('token', 'functions/oauth2/token.ts', {
      body: {
        grant_type: 'authorization_code',
        code,
        redirect_uri: client.redirectUri,
        client_id: client.id,
        code_verifier: verifier,
      },
    })
  const again = use === 'consent' ? 1 : 2
  const answers =
    use === 'consent, code used at once'
      ? await Promise.all([exchange(), exchange()])
      : [await exchange(), ...(again === 2 ? [await exchange()] : [])]
  const span = { from, to: world.instant }
  const won = answers.filter(({ status }) => status === 200)
  if (won.length > 1) world.violations.push('a code was exchanged twice')
  for (const { data } of won) {
    const { access_token: token = '', device_token = '', expire } = data as Record<string, string>
    const ended = again === 2 ? span : undefined
    const expires = { expire: Number(expire) }
    record.tokens.push({ userId, session, token, ...expires, span, ended: ended ?? given.ended })
    record.deviceTokens.push({ userId, client: client.id, token: device_token, ...expires })
  }
}
