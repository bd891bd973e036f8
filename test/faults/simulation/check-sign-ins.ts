import { createLocalJWKSet, type JSONWebKeySet, jwtVerify } from 'jose'
import { maxClockOffset } from './check-bills.ts'
import { acceptedOf, possibleValues, type Setting, type SimulationRecord } from './record.ts'
import type { GivenToken, SignInRecord } from './sign-in.ts'
import type { WorldAnswer } from './world.ts'

interface Service {
  now: number
  jwks: () => Promise<WorldAnswer>
  /** Sends a request with an access_token. */
  use: (token: string) => Promise<WorldAnswer>
}

/** All values that events have set for a field of a user, each with the time at which it was set. */
function settingsOf(
  record: SimulationRecord,
  userId: number,
  field: 'login_password' | 'email' | 'disabled' | 'totp_secret',
): Setting<unknown>[] {
  const registered = acceptedOf(record, 'user.registered')
    .filter(({ detail }) => detail.user_id === userId)
    .map(({ detail, span }) => ({ at: -1, value: field === 'disabled' ? false : detail[field], span }))
  const updated = acceptedOf(record, 'user.updated')
    .filter(({ detail }) => detail.user_id === userId && detail[field] !== undefined)
    .map(({ detail, span }) => ({ at: detail.at, value: detail[field], span }))
  return [...registered, ...updated]
}

/** Checks sign-in answers, and the tokens in them, against the contract. Lists the differences. */
export async function checkSignIns(
  record: SimulationRecord,
  signIns: SignInRecord,
  service: Service,
): Promise<string[]> {
  return [
    ...checkPasswords(record, signIns),
    ...checkCodes(record, signIns),
    ...(await checkTokens(record, signIns, service)),
    ...(await checkDeviceTokens(signIns, service)),
  ]
}

function checkPasswords(record: SimulationRecord, { passwords }: SignInRecord): string[] {
  return passwords.flatMap(({ plan: { userId, email, password }, code, span, attempts }, i) => {
    const values = (field: Parameters<typeof settingsOf>[2]) =>
      possibleValues(settingsOf(record, userId, field), span)
    const [known, emails, disabled] = [values('login_password'), values('email'), values('disabled')]
    const isPossible = known.includes(password) && emails.includes(email) && disabled.includes(false)
    const isSure = isPossible && [known, emails, disabled].every(({ length }) => length === 1)
    const mailed = passwords.slice(0, i + 1).filter((other) => other.plan.userId === userId)
    const tries = mailed.reduce((sum, other) => sum + other.attempts, 0) + attempts
    const isRight =
      code === 0 ? isPossible : code === 40101 ? !isSure : code === 42900 && (tries > 4 || !isSure)
    return isRight ? [] : [`the password of ${userId} was answered ${code}`]
  })
}

function checkCodes(record: SimulationRecord, { codes }: SignInRecord): string[] {
  return codes.flatMap(({ plan, code, answers, isSure, span }, i) => {
    const { userId, method } = plan
    const succeeded = answers.filter((answer) => answer === 0).length
    const said = `of the codes of ${userId} by ${method}, ${answers.join(', ')}`
    if (code === 'wrong')
      return [40103, 40102, 42900].includes(answers[0] ?? 0) ? [] : [`${said}: it was wrong`]
    if (succeeded > 1) return [`${said}: more than one succeeded`]
    const isReplay = codes
      .slice(0, i)
      .some((other) => other.plan.userId === userId && other.code === code && other.answers.includes(0))
    // An update that sets a TOTP secret makes all time steps usable again.
    const isNew = acceptedOf(record, 'user.updated').some(({ detail }) => detail.totp_secret !== undefined)
    if (method === 'AUTHENTICATOR' && isReplay && !isNew && succeeded > 0)
      return [`${said}: a time step was used twice`]
    const changed = acceptedOf(record, 'user.updated').some(({ detail }) => detail.user_id === userId)
    const others = codes.filter((other) => other !== codes[i] && other.plan.userId === userId)
    const isAlone = others.every((other) => Math.abs(other.span.from.at - span.from.at) > 120_000)
    const isExpected = isSure && !changed && isAlone && plan.wrongCodes < 4 && method === 'AUTHENTICATOR'
    return isExpected && succeeded === 0 ? [`${said}: none succeeded`] : []
  })
}

/** Whether a token must work now; undefined where the contract leaves it open. */
function isAlive(
  record: SimulationRecord,
  { userId, span, ended, expire }: GivenToken,
  now: number,
): boolean | undefined {
  // The clock of the process that checks the token may be off by up to `maxClockOffset`.
  if (Math.abs(now - expire) < maxClockOffset) return undefined
  if (now > expire) return false
  if (ended !== undefined) return false
  const updates = acceptedOf(record, 'user.updated').filter(({ detail }) => detail.user_id === userId)
  const ending = (['login_password', 'totp_secret', 'disabled'] as const).flatMap((field) =>
    updates
      .filter(({ detail }) => detail[field] !== undefined && detail[field] !== false)
      .map((update) => {
        const others = updates.filter((other) => other.detail[field] !== undefined && other !== update)
        const later = others.filter((other) => other.detail.at > update.detail.at)
        const isIgnored = later.some((other) => other.span.to.step < update.span.from.step)
        const isEffective = later.every((other) => other.span.from.step > update.span.to.step)
        return { span: update.span, isIgnored, isEffective }
      }),
  )
  const mayHaveEnded = ending.filter((one) => !one.isIgnored && one.span.to.step >= span.from.step)
  if (mayHaveEnded.length === 0) return true
  return mayHaveEnded.some((one) => one.isEffective && one.span.from.step > span.to.step) ? false : undefined
}

async function checkTokens(record: SimulationRecord, { tokens }: SignInRecord, service: Service) {
  const checks = tokens.map(async (given) => {
    const expected = isAlive(record, given, service.now)
    const { status } = await service.use(given.token)
    if (expected === undefined || status === (expected ? 200 : 401)) return []
    return [`a token of ${given.userId} is answered ${status}, but it is ${expected ? 'alive' : 'over'}`]
  })
  return (await Promise.all(checks)).flat()
}

async function checkDeviceTokens({ deviceTokens }: SignInRecord, { now, jwks }: Service): Promise<string[]> {
  if (deviceTokens.length === 0) return []
  const { data, status } = await jwks()
  if (status !== 200) return [`the JWKS is answered ${status}`]
  const keys = createLocalJWKSet(data as JSONWebKeySet)
  const checks = deviceTokens
    .filter(({ expire }) => expire > now)
    .map(async ({ userId, client, token, expire }) => {
      const { payload } = await jwtVerify(token, keys, { audience: client, currentDate: new Date(now) })
      const isSame = payload.sub === String(userId) && payload.exp === Math.floor(expire / 1000)
      return isSame
        ? []
        : [`a device_token of ${userId} is for ${payload.sub ?? ''} until ${payload.exp ?? 0}`]
    })
  const results = await Promise.allSettled(checks)
  return results.flatMap((result) =>
    result.status === 'fulfilled'
      ? result.value
      : [`a device_token cannot be verified: ${String(result.reason)}`],
  )
}
