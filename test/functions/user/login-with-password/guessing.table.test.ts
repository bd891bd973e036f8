import { randomUUID } from 'node:crypto'
import { describe, expect, test, vi } from 'vitest'
import { readItem } from '../../../../shared/db/read.ts'
import type { Key } from '../../../../shared/db/table.ts'
import {
  giveBackSourceTry,
  guessSource,
  reserveSourceTry,
  sourceNetwork,
} from '../../../../shared/sign-in/limits/source.ts'
import {
  passwordCounter,
  reservePasswordTry,
  unknownSignInKey,
} from '../../../../shared/sign-in/password/attempt.ts'
import { readSignInRecord, signInKey } from '../../../../shared/sign-in/record.ts'
import { countTries } from '../../../../shared/sign-in/limits/tries.ts'
import { normalizeEmail } from '../../../../shared/users/normalize-email.ts'
import { emittedMetrics } from '../../../support/emitted-metrics.ts'
import { measureCalls } from '../../../support/measure-calls.ts'
import { guessAtOnce, login, openTicket, verifyAuthenticator } from '../../../support/sign-in-calls.ts'
import { authenticatorCode, createUser, md5, newSourceIp } from '../../../support/sign-in.ts'
import { actWhile } from '../../../support/tamper-calls.ts'

const refused = { status: 401, code: 40101 }
const blocked = { status: 429, code: 42900, data: null }

const user = await createUser()

const guess = (source: string, email = user.email) => login({ email, password: md5('a guess') }, source)

/** Leaves the table as if the source had tried passwords for `times` other accounts. */
async function guessElsewhere(source: string, times: number): Promise<void> {
  for (let i = 0; i < times; i += 1)
    await reserveSourceTry(guessSource(sourceNetwork(source), randomUUID()), undefined, Date.now())
}

const afterFirstRead = (meanwhile: () => Promise<void>, signIn: () => Promise<void>): Promise<void> =>
  actWhile('is answered', 'BatchGetCommand', meanwhile, signIn)

describe('wrong passwords of one source for one account', () => {
  test('ten wrong passwords block one source for one account, even with the right password', async () => {
    const source = newSourceIp()
    for (let i = 1; i <= 9; i += 1) expect(await guess(source)).toMatchObject(refused)
    const tenth = await guess(source)
    expect(tenth).toMatchObject(blocked)
    const wait = Number(tenth.headers['retry-after'])
    expect(wait).toBeGreaterThan(3_500)
    expect(wait).toBeLessThanOrEqual(3_660)
    expect(await login(user, source)).toMatchObject(blocked)
    expect((await login(user)).code).toBe(0)
    expect((await login(await createUser(), source)).code).toBe(0)
  })

  test('wrong passwords for an unknown email address are counted together for all spellings of the address', async () => {
    const source = newSourceIp()
    const email = `nobody-${randomUUID()}@example.com`
    for (let i = 1; i <= 9; i += 1) expect(await guess(source, email)).toMatchObject(refused)
    expect(await guess(source, ` ${email.toUpperCase()}`)).toMatchObject(blocked)
  })

  test('wrong passwords count for the whole /64 network of an IPv6 address', async () => {
    const network = newSourceIp().replace('::1', '')
    for (let i = 1; i <= 9; i += 1) expect(await guess(`${network}::${i}`)).toMatchObject(refused)
    expect(await guess(`${network}:1:2:3:4`)).toMatchObject(blocked)
  })

  test('of fifty simultaneous wrong passwords from one source, only ten are compared with the real one', async () => {
    const { email } = await createUser()
    const source = newSourceIp()
    const counts = await guessAtOnce(50, () => guess(source, email))
    expect(counts).toEqual({ compared: 10, wrong: 9, blocked: 41 })
  })

  test('the right password is not compared if wrong ones reach the limit meanwhile', async () => {
    const person = await createUser()
    const sourceIp = newSourceIp()
    const source = guessSource(sourceNetwork(sourceIp), normalizeEmail(person.email))
    const now = Date.now()
    const { names } = await measureCalls(() =>
      afterFirstRead(
        async () => {
          for (let i = 0; i < 10; i += 1) await reserveSourceTry(source, undefined, now)
        },
        async () => expect(await login(person, sourceIp)).toMatchObject(blocked),
      ),
    )
    expect(names).not.toContain('GenerateMac')
    await giveBackSourceTry(source, now)
    expect((await login(person, sourceIp)).code).toBe(0)
  })

  test('a refused sign-in does not prolong the time for which its source is blocked', async () => {
    const person = await createUser()
    const sourceIp = newSourceIp()
    const source = guessSource(sourceNetwork(sourceIp), normalizeEmail(person.email))
    const now = Date.now()
    const count = (minutesAgo: number) => reserveSourceTry(source, undefined, now - minutesAgo * 60_000)
    await afterFirstRead(
      async () => {
        await Promise.all([50, ...Array<number>(9).fill(20)].map(count))
      },
      async () => {
        const answer = await login(person, sourceIp)
        expect(answer).toMatchObject(blocked)
        expect(Number(answer.headers['retry-after'])).toBeLessThanOrEqual(11 * 60)
      },
    )
  })

  test('a right password does not count as a try, so one source can sign in as often as it likes', async () => {
    const person = await createUser()
    const source = newSourceIp()
    await guessElsewhere(source, 89)
    for (let i = 0; i < 15; i += 1) expect((await login(person, source)).code).toBe(0)
    for (let i = 1; i <= 9; i += 1) expect(await guess(source, person.email)).toMatchObject(refused)
    expect(await guess(source, person.email)).toMatchObject(blocked)
  })

  test('a password that could not be compared does not count as wrong', async () => {
    const person = await createUser()
    const source = newSourceIp()
    vi.stubEnv('MAC_KEY_IDS', 'no-such-key')
    try {
      for (let i = 0; i < 12; i += 1) expect((await login(person, source)).status).toBeGreaterThanOrEqual(500)
    } finally {
      vi.unstubAllEnvs()
    }
    expect((await login(person, source)).code).toBe(0)
    expect(countTries(await readSignInRecord(person.userId), passwordCounter, Date.now())).toBe(0)
  })

  test('a right password’s counter of 0 is removed by a sign-in minutes later from the same source', async () => {
    const source = newSourceIp()
    const people = await Promise.all(Array.from({ length: 8 }, () => createUser()))
    const signInAll = async () => {
      for (const person of people) expect((await login(person, source)).code).toBe(0)
    }
    await signInAll()
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 4 * 60_000 })
    try {
      await signInAll()
    } finally {
      vi.useRealTimers()
    }
    const { key } = guessSource(sourceNetwork(source), '')
    // The second round has one counter for each account. Those of the first round have been removed.
    const names = Object.keys((await readItem(key, { consistent: true })) ?? {})
    expect(names.filter((name) => !/^(pk|sk|ttl|all@\d+)$/.test(name))).toHaveLength(people.length)
  })

  test('a wrong password is counted for a full hour, and no longer', async () => {
    const source = newSourceIp()
    const start = Date.now()
    vi.useFakeTimers({ toFake: ['Date'] })
    for (let i = 0; i < 10; i += 1) {
      vi.setSystemTime(start + i * 5 * 60_000)
      await guess(source)
    }
    vi.setSystemTime(start + 60 * 60_000 - 1)
    expect(await login(user, source)).toMatchObject(blocked)
    vi.setSystemTime(start + 61 * 60_000)
    expect((await login(user, source)).code).toBe(0)
  })
})

test('the hundredth wrong password from a source, across all accounts, blocks the source for every account', async () => {
  const source = newSourceIp()
  await guessElsewhere(source, 98)
  expect(await guess(source)).toMatchObject(refused)
  expect(await guess(source, `nobody-${randomUUID()}@example.com`)).toMatchObject(blocked)
  expect(await login(user, source)).toMatchObject(blocked)
  expect((await login(user)).code).toBe(0)
})

test('of wrong passwords of one source for many accounts at once, no more than the limit are compared', async () => {
  const source = newSourceIp()
  await guessElsewhere(source, 95)
  const counts = await guessAtOnce(20, () => guess(source, `nobody-${randomUUID()}@example.com`))
  expect(counts).toEqual({ compared: 5, wrong: 4, blocked: 16 })
})

describe('wrong passwords for one account over all sources', () => {
  async function guessFromElsewhere(key: Key, known: boolean, times: number): Promise<number> {
    const now = Date.now()
    await Promise.all(Array.from({ length: times - 1 }, () => reservePasswordTry(key, known, now)))
    return countTries(await reservePasswordTry(key, known, now), passwordCounter, now)
  }

  test('the hundredth wrong password for an account blocks only sources new to the account', async () => {
    const person = await createUser()
    const home = newSourceIp()
    const ticket = await openTicket(person)
    const code = await authenticatorCode(person.totpSecret)
    expect((await verifyAuthenticator(person, ticket, code, home)).code).toBe(0)

    expect(await guessFromElsewhere(signInKey(person.userId), true, 98)).toBe(98)
    expect(await guess(newSourceIp(), person.email)).toMatchObject(refused)
    const hundredth = await guess(newSourceIp(), person.email)
    expect(hundredth).toMatchObject(blocked)
    expect(Number(hundredth.headers['retry-after'])).toBeGreaterThan(3_500)
    expect(await login(person)).toMatchObject(blocked)
    expect((await login(person, home)).code).toBe(0)
    expect(await guess(home, person.email)).toMatchObject(refused)
  })

  test('after the hundredth wrong password for an account, a refused sign-in does not prolong the block', async () => {
    const person = await createUser()
    const now = Date.now()
    const minutesAgo = [50, ...Array<number>(99).fill(20)]
    const key = signInKey(person.userId)
    await Promise.all(minutesAgo.map((minutes) => reservePasswordTry(key, true, now - minutes * 60_000)))
    const answer = await login(person)
    expect(answer).toMatchObject(blocked)
    expect(Number(answer.headers['retry-after'])).toBeLessThanOrEqual(11 * 60)
  })

  // Nor are they counted.
  test('passwords after the hundredth wrong one are not compared, even if many are sent at once', async () => {
    const person = await createUser()
    const key = signInKey(person.userId)
    await guessFromElsewhere(key, true, 95)
    const counts = await guessAtOnce(30, () => guess(newSourceIp(), person.email))
    expect(counts).toEqual({ compared: 5, wrong: 4, blocked: 26 })
    const item = (await readSignInRecord(person.userId)) ?? expect.unreachable()
    expect(countTries(item, passwordCounter, Date.now())).toBe(100)
  })

  test('the hundredth wrong password is refused alike for unknown and known email addresses', async () => {
    const email = `nobody-${randomUUID()}@example.com`
    await guessFromElsewhere(unknownSignInKey(normalizeEmail(email)), false, 98)
    expect(await guess(newSourceIp(), email)).toMatchObject(refused)
    expect(await guess(newSourceIp(), email)).toMatchObject(blocked)
    expect(await guess(newSourceIp(), email)).toMatchObject(blocked)
  })

  test('GuessedAccounts counts users whose password is guessed, but no unknown email addresses', async () => {
    const person = await createUser()
    const email = `nobody-${randomUUID()}@example.com`
    await guessFromElsewhere(signInKey(person.userId), true, 100)
    await guessFromElsewhere(unknownSignInKey(normalizeEmail(email)), false, 100)
    const raised = async (address: string) =>
      (await emittedMetrics(() => guess(newSourceIp(), address))).filter(
        ({ name }) => name === 'GuessedAccounts',
      )
    expect(await raised(person.email)).toEqual([{ name: 'GuessedAccounts', value: 1, dimensions: {} }])
    expect(await raised(email)).toEqual([])
  })

  test('counts of tries are removed after an hour, even while the guessing goes on', async () => {
    const person = await createUser()
    const key = signInKey(person.userId)
    const now = Date.now()
    for (let minutes = 100; minutes < 116; minutes += 1)
      await reservePasswordTry(key, true, now - minutes * 60_000)
    expect(await guess(newSourceIp(), person.email)).toMatchObject(refused)
    const item = (await readSignInRecord(person.userId)) ?? expect.unreachable()
    expect(Object.keys(item).filter((name) => name.startsWith('password@'))).toHaveLength(1)
  })
})
