import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { handler as addressInfo } from '../../functions/address/info.ts'
import { handler as addressesProvisioned } from '../../functions/intake/addresses.provisioned.ts'
import { handler as walletAdjusted } from '../../functions/intake/wallet.adjusted.ts'
import { handler as token } from '../../functions/oauth2/token.ts'
import { handler as rotate } from '../../functions/schedule/rotate-signing-keys.ts'
import { handler as login2fa } from '../../functions/user/login-2fa.ts'
import { readItem } from '../../shared/db/read.ts'
import { countFreeAddresses } from '../../shared/deposits/address.ts'
import { readCode } from '../../shared/oauth/authorization-code.ts'
import { giveBackSourceTry, guessSource, reserveSourceTry } from '../../shared/sign-in/limits/source.ts'
import { passwordCounter } from '../../shared/sign-in/password/attempt.ts'
import { readSignInRecord } from '../../shared/sign-in/record.ts'
import { countTries } from '../../shared/sign-in/limits/tries.ts'
import { callEndpoint } from '../support/call-endpoint.ts'
import { consentTo } from '../support/consent.ts'
import { contextWith, deliver } from '../support/deliver.ts'
import { newPool, provision } from '../support/deposits.ts'
import { emittedMetrics } from '../support/emitted-metrics.ts'
import { addUser, adjustment, holdingsOf } from '../support/ledger.ts'
import { addLoginTicket } from '../support/login-tickets.ts'
import { bearer, createClient, createSession } from '../support/oauth-clients.ts'
import { login, verifyMailed } from '../support/sign-in-calls.ts'
import { createUser, newSourceIp } from '../support/sign-in.ts'
import { useOwnKeys } from '../support/own-keys.ts'
import { tamperCalls, withLostFirstAnswers } from '../support/tamper-calls.ts'

const { renew } = useOwnKeys()

beforeAll(async () => {
  process.env['GROW_TREE_QUEUE_URL'] ??= 'http://queue.invalid/grow-tree.fifo'
  await renew()
  await rotate({}, { awsRequestId: randomUUID() })
})

/** Runs `work`. The answer to its first transaction is lost, although DynamoDB carries it out. */
async function withLostAnswer<T>(work: () => Promise<T>): Promise<T> {
  let lost = false
  const { restore } = tamperCalls(async ({ name, perform }) => {
    const result = await perform()
    if (lost || name !== 'TransactWriteCommand') return result
    lost = true
    return new Promise(() => undefined)
  })
  const result = await work().finally(restore)
  expect(lost).toBe(true)
  return result
}

/** Remaining time that Lambda reports. Half a second of it is reserved for the answer. */
const remainingMilliseconds = 1_200
const eventContext = () => contextWith(7_700)

const unavailable = { status: 503, code: 50300, headers: { 'retry-after': '1' }, data: null }

/** The second delay exceeds the ten minutes for which DynamoDB recognizes a repeated transaction. */
const repetitions = [
  ['at once', 0],
  ['eleven minutes later', 660_000],
] as const

describe.each(repetitions)('a write whose answer is lost, and which is repeated %s', (_when, later) => {
  const passTime = () => {
    if (later > 0) vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + later })
  }
  it('a repeated request uses up no second deposit address', async () => {
    const pool = newPool()
    await deliver(addressesProvisioned, provision(pool, 3))
    const { accessToken } = await createSession()
    const request = {
      headers: bearer(accessToken),
      query: `currency=${pool.currency}&currencyNetWork=${pool.network}`,
    }
    const lost = await withLostAnswer(() => callEndpoint(addressInfo, { ...request, remainingMilliseconds }))
    expect(lost).toMatchObject(unavailable)
    passTime()
    expect(await callEndpoint(addressInfo, request)).toMatchObject({ status: 200, code: 0 })
    expect(await countFreeAddresses(pool, 10)).toBe(2)
  })

  // It revokes the token of the first exchange (RFC 6749 §4.1.2).
  it('after a lost answer, a second exchange of the authorization code is refused', async () => {
    const exchange = { body: await consentTo(await createClient(), await createSession()) }
    const lost = await withLostAnswer(() => callEndpoint(token, { ...exchange, remainingMilliseconds }))
    expect(lost).toMatchObject(unavailable)
    const givenKey = (await readCode(exchange.body['code'] ?? ''))?.givenKey ?? { pk: 'none', sk: 'none' }
    expect(await readItem(givenKey, { consistent: true })).toBeDefined()
    passTime()
    expect(await callEndpoint(token, exchange)).toMatchObject({ status: 400, code: 40003 })
    expect(await readItem(givenKey, { consistent: true })).toBeUndefined()
  })

  it('a second factor whose answer was lost is refused when repeated, so the user signs in again', async () => {
    const user = await createUser()
    const ticket = await addLoginTicket(user, '012345')
    const body = { email: user.email, login_ticket: ticket, method: 'EMAIL', validate_code: '012345' }
    const lost = await withLostAnswer(() => callEndpoint(login2fa, { body, remainingMilliseconds }))
    expect(lost).toMatchObject(unavailable)
    passTime()
    expect(await callEndpoint(login2fa, { body })).toMatchObject({ status: 401, code: 40102 })
  })

  it('a lost answer to an event’s write is no fault of the service', async () => {
    const event = adjustment(await addUser())
    const metrics = await emittedMetrics(async () => {
      expect(await withLostAnswer(() => deliver(walletAdjusted, event, eventContext()))).toBe('retry')
    })
    expect(metrics.map(({ name }) => name)).toEqual(['Unavailable'])
  })

  it('an event is applied once though the answer to its write was lost', async () => {
    const userId = await addUser()
    const event = adjustment(userId)
    expect(await withLostAnswer(() => deliver(walletAdjusted, event, eventContext()))).toBe('retry')
    passTime()
    expect(await deliver(walletAdjusted, event, eventContext())).toBe('done')
    expect(await holdingsOf(userId)).toEqual({ USDT: '1 0 0 0' })
  })
})

describe('a write that the SDK repeats because its answer was lost', () => {
  it('one of fifty simultaneous tries with the right code succeeds, though the SDK repeats writes', async () => {
    const user = await createUser()
    const ticket = await addLoginTicket(user, '012345')
    const answers = await withLostFirstAnswers('UpdateItem', 50, () =>
      Promise.all(Array.from({ length: 50 }, () => verifyMailed(user, ticket, '012345'))),
    )
    expect(answers.filter(({ code }) => code === 0)).toHaveLength(1)
  })

  it('a sign-in with the right password creates only one login ticket, even if the SDK repeats the write', async () => {
    const user = await createUser()
    // The first two writes count the password try. The third write stores the ticket, and its answer is lost.
    const answer = await withLostFirstAnswers('UpdateItem', 1, () => login(user), { skip: 2 })
    expect(answer).toMatchObject({ status: 200, code: 0 })
    const record = (await readSignInRecord(user.userId)) ?? expect.unreachable()
    expect(Object.keys(record.tickets)).toHaveLength(1)
    expect(record.mails).toHaveLength(1)
    expect(countTries(record, passwordCounter, Date.now())).toBe(0)
  })

  it('a try counted for a source address is taken back once, even if the SDK repeats the write', async () => {
    const [source, now] = [guessSource(newSourceIp(), randomUUID()), Date.now()]
    await reserveSourceTry(source, undefined, now)
    await withLostFirstAnswers('UpdateItem', 1, () => giveBackSourceTry(source, now))
    const item = await readItem(source.key, { consistent: true })
    expect(countTries(item, 'all', now)).toBe(0)
    expect(countTries(item, source.account, now)).toBe(0)
  })
})
