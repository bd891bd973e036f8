import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { reservePasswordTry } from '../../../../shared/sign-in/password-step.ts'
import { signInKey, unknownSignInKey } from '../../../../shared/sign-in/sign-in-record.ts'
import { login } from '../../../support/sign-in-calls.ts'
import { createUser, md5, type TestUser, update } from '../../../support/sign-in.ts'

/** Number of sign-ins per kind of account and round. An account takes a hundred wrong passwords an hour. */
const tries = 40
/** Maximum number of rounds: on a busy machine it may take several until the medians are close. */
const maxRounds = 15

type Attempt = Pick<TestUser, 'email' | 'password'>

const nobody = (): Attempt => ({ email: `nobody-${randomUUID()}@example.com`, password: md5('x') })

async function createDisabledUser(): Promise<TestUser> {
  const user = await createUser()
  await update({ update_id: randomUUID(), user_id: user.userId, at: 1, disabled: true })
  return user
}

/**
 * Measures sign-ins of several kinds of account in turn, until their medians differ by at most 5 %. Resolves
 * with the difference. `start` makes the accounts of a round: for each kind a function that returns an
 * attempt.
 */
async function spreadOfMedians(start: () => Promise<(() => Attempt)[]>, code: number): Promise<number> {
  const times: number[][] = []
  let spread = Infinity
  for (let round = 1; round <= maxRounds && spread > 0.05; round += 1) {
    const kinds = await start()
    for (let i = 0; i < tries; i += 1)
      for (const [kind, attempt] of kinds.entries()) {
        const sent = attempt()
        const startedAt = performance.now()
        expect((await login(sent)).code).toBe(code)
        // The first sign-ins of a round warm up.
        if (i >= 5) (times[kind] ??= []).push(performance.now() - startedAt)
      }
    const medians = times.map(median)
    spread = Math.max(...medians) / Math.min(...medians) - 1
  }
  return spread
}

test('sign-ins with an unknown address, wrong password or disabled user take the same median time within 5 %', async () => {
  const spread = await spreadOfMedians(async () => {
    const [wrong, disabled] = await Promise.all([createUser(), createDisabledUser()])
    return [nobody, () => ({ ...wrong, password: md5('x') }), () => disabled]
  }, 40101)
  expect(spread).toBeLessThanOrEqual(0.05)
}, 180_000)

test('refused sign-ins of an account that is being guessed take the same median time within 5 %, also if nobody has it', async () => {
  const [known, disabled] = await Promise.all([createUser(), createDisabledUser()])
  const unknown = nobody()
  const keys = [known, disabled].map(({ userId }) => signInKey(userId))
  for (let i = 0; i < 100; i += 1) {
    for (const key of keys) await reservePasswordTry(key, true, Date.now())
    await reservePasswordTry(unknownSignInKey(unknown.email), false, Date.now())
  }
  const spread = await spreadOfMedians(
    async () => Promise.resolve([() => unknown, () => known, () => disabled]),
    42900,
  )
  expect(spread).toBeLessThanOrEqual(0.05)
}, 180_000)

function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}
