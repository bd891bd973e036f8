import { fork } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { expect, test } from 'vitest'
import { reservePasswordTry, unknownSignInKey } from '../../../../shared/sign-in/password/attempt.ts'
import { signInKey } from '../../../../shared/sign-in/record.ts'
import type { SignInAttempt, SignInCost } from '../../../support/measure-sign-ins.ts'
import { createUser, md5, type TestUser, update } from '../../../support/sign-in.ts'

type Attempt = Pick<TestUser, 'email' | 'password'>

const nobody = (): Attempt => ({ email: `nobody-${randomUUID()}@example.com`, password: md5('x') })

async function createDisabledUser(): Promise<TestUser> {
  const user = await createUser()
  await update({ user_id: user.userId, disabled: true })
  return user
}

/** Number of rounds at the start that are not measured, because the process warms up. */
const warmUp = 20

/** Assumed duration of an AWS call. The time of a sign-in is processor time plus this time for each call. */
const callMilliseconds = 3

/**
 * Attempts several kinds of sign-ins in turn. All must get the same answer, make the same AWS calls, and take
 * the same time within 5 %. Time is processor time plus `callMilliseconds` for each call, because a busy
 * machine would distort clock time. The process's speed changes between rounds, so each time is divided by
 * the total time of its round.
 */
async function expectEqualTimes(
  kinds: Record<string, () => Attempt>,
  code: number,
  rounds: number,
): Promise<void> {
  const attempts = Array.from({ length: warmUp + rounds }, (_, round) => {
    const all = Object.entries(kinds).map(([kind, attempt]): SignInAttempt => ({ kind, ...attempt() }))
    const first = round % all.length
    return [...all.slice(first), ...all.slice(0, first)]
  })
  const process = fork('test/support/measure-sign-ins.ts', { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  process.send(attempts.flat())
  const [costs] = (await once(process, 'message')) as [SignInCost[]]
  expect(new Set(costs.map((cost) => cost.code))).toEqual(new Set([code]))
  const byKind = Object.values(Object.groupBy(costs, ({ kind }) => kind)).map((all = []) => all)
  const calls = byKind.map((all) => new Set(all.map((cost) => cost.calls.join())))
  for (const some of calls) expect(some).toEqual(calls[0])
  const times = byKind.map((all) =>
    all.map((cost) => cost.cpuMilliseconds + callMilliseconds * cost.calls.length),
  )
  const ofRound = (round: number) => times.reduce((sum, all) => sum + (all[round] ?? Number.NaN), 0)
  const medians = times.map((all) => median(all.map((time, round) => time / ofRound(round)).slice(warmUp)))
  expect(Math.max(...medians) / Math.min(...medians) - 1).toBeLessThanOrEqual(0.05)
}

test('sign-ins with an unknown address, wrong password or disabled user take the same time within 5 %', async () => {
  const [wrong, disabled] = await Promise.all([createUser(), createDisabledUser()])
  const kinds = { nobody, wrong: () => ({ ...wrong, password: md5('x') }), disabled: () => disabled }
  // Few sign-ins, because an account is blocked after 100 wrong passwords.
  await expectEqualTimes(kinds, 40101, 40)
}, 180_000)

test('refused guesses take the same time within 5 %, whether or not the account exists', async () => {
  const [known, disabled] = await Promise.all([createUser(), createDisabledUser()])
  const unknown = nobody()
  const keys = [known, disabled].map(({ userId }) => signInKey(userId))
  for (let i = 0; i < 100; i += 1) {
    for (const key of keys) await reservePasswordTry(key, true, Date.now())
    await reservePasswordTry(unknownSignInKey(unknown.email), false, Date.now())
  }
  const kinds = { unknown: () => unknown, known: () => known, disabled: () => disabled }
  await expectEqualTimes(kinds, 42900, 120)
}, 180_000)

function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}
