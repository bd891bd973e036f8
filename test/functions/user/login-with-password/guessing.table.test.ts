import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, test, vi } from 'vitest'
import { guessLimits, recordFailedGuess } from '../../../../shared/sign-in/guess-limit.ts'
import { login } from '../../../support/sign-in-calls.ts'
import { createUser, md5, newSourceIp, type TestUser } from '../../../support/sign-in.ts'

const refused = { status: 401, code: 40101 }
const blocked = { status: 429, code: 42900, data: null }

let user: TestUser
beforeAll(async () => {
  user = await createUser()
})

const guess = (source: string, email = user.email) => login({ email, password: md5('a guess') }, source)

/**
 * Records wrong passwords for many accounts directly in the table, without the cost of that many sign-ins.
 */
async function guessElsewhere(source: string, times: number): Promise<void> {
  for (let i = 0; i < times; i += 1) {
    const [, all] = guessLimits(source, randomUUID())
    await recordFailedGuess([all], [], Date.now())
  }
}

describe('wrong passwords of one source for one account', () => {
  test('the tenth wrong password for one account blocks the source even with the right one, but not other sources', async () => {
    const source = newSourceIp()
    for (let i = 1; i <= 9; i += 1) expect(await guess(source)).toMatchObject(refused)
    const tenth = await guess(source)
    expect(tenth).toMatchObject(blocked)
    const wait = Number(tenth.headers['retry-after'])
    expect(wait).toBeGreaterThan(3_500)
    expect(wait).toBeLessThanOrEqual(3_660)
    expect(await login(user, source)).toMatchObject(blocked)
    expect((await login(user)).code).toBe(0)
  })

  test('wrong passwords for one account do not block the source for other accounts', async () => {
    const source = newSourceIp()
    for (let i = 1; i <= 10; i += 1) await guess(source)
    const other = await createUser()
    expect((await login(other, source)).code).toBe(0)
  })

  test('wrong passwords for an unknown email address count too, in any spelling of it', async () => {
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

  test('wrong passwords that are sent at the same time are all counted', async () => {
    const source = newSourceIp()
    const answers = await Promise.all(Array.from({ length: 16 }, () => guess(source)))
    expect(answers.filter(({ code }) => code === 40101)).toHaveLength(9)
    expect(answers.filter(({ code }) => code === 42900)).toHaveLength(7)
  })

  test('wrong passwords stop counting after an hour, not earlier', async () => {
    const source = newSourceIp()
    const start = Date.now()
    vi.useFakeTimers({ toFake: ['Date'] })
    try {
      for (let i = 0; i < 10; i += 1) {
        vi.setSystemTime(start + i * 5 * 60_000)
        await guess(source)
      }
      vi.setSystemTime(start + 60 * 60_000 - 1)
      expect(await login(user, source)).toMatchObject(blocked)
      vi.setSystemTime(start + 61 * 60_000)
      expect((await login(user, source)).code).toBe(0)
    } finally {
      vi.useRealTimers()
    }
  })
})

describe('wrong passwords of one source over all accounts', () => {
  test('the hundredth wrong password over all accounts blocks the source for every account', async () => {
    const source = newSourceIp()
    await guessElsewhere(source, 98)
    expect(await guess(source)).toMatchObject(refused)
    expect(await guess(source, `nobody-${randomUUID()}@example.com`)).toMatchObject(blocked)
    expect(await login(user, source)).toMatchObject(blocked)
    expect((await login(user)).code).toBe(0)
  })
})
