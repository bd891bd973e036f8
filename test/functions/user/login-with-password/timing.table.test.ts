import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { login } from '../../../support/sign-in-calls.ts'
import { createUser, md5, update } from '../../../support/sign-in.ts'

/** Number of sign-ins per round, over all kinds of account. */
const tries = 200
/** Maximum number of rounds: on a busy machine it may take several until the medians are close. */
const maxRounds = 10

test('sign-ins with an unknown address, wrong password or disabled user take the same median time within 5 %', async () => {
  const [wrong, disabled] = await Promise.all([createUser(), createUser()])
  await update({ update_id: randomUUID(), user_id: disabled.userId, at: 1, disabled: true })
  const kinds = [
    () => ({ email: `nobody-${randomUUID()}@example.com`, password: md5('x') }),
    () => ({ email: wrong.email, password: md5('x') }),
    () => disabled,
  ]
  const times = kinds.map((): number[] => [])
  for (const kind of kinds) await login(kind())

  let spread = Infinity
  for (let round = 1; round <= maxRounds && spread > 0.05; round += 1) {
    for (let i = 0; i < tries; i += 1) {
      const kind = i % kinds.length
      const attempt = kinds[kind]?.() ?? disabled
      const startedAt = performance.now()
      expect((await login(attempt)).code).toBe(40101)
      times[kind]?.push(performance.now() - startedAt)
    }
    const medians = times.map(median)
    spread = Math.max(...medians) / Math.min(...medians) - 1
  }
  expect(spread).toBeLessThanOrEqual(0.05)
}, 180_000)

function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}
