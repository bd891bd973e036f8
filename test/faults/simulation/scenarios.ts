import { openDraws } from './draws.ts'
import { drawStart, type History, type Operation } from './history.ts'
import { type Outcome, runHistory } from './run-history.ts'
import { passwordOf, totpSecretOf } from './sign-in.ts'
import { calm } from './world.ts'

const begin = Date.UTC(2025, 1, 1, 12)
const userIds = [1001, 1002, 1003, 1004]
const quiet: Operation = { after: 0, kind: 'quiet', userIds }
/** Those with an authenticator, who need no mail to sign in. */
const signer = 1002

const signIn = (after: number, uses: readonly ('consent' | 'exchange')[]): Operation => ({
  after,
  kind: 'signIn',
  plan: {
    userId: signer,
    email: `user${signer}@example.com`,
    password: passwordOf(signer),
    method: 'AUTHENTICATOR',
    wrongCodes: 0,
    simultaneous: 1,
    uses,
  },
  source: '2001:db8::1',
  secret: totpSecretOf(signer),
})

const throttledMilliseconds = 60_000
/** How many requests are sent in that time, but for those of the two sign-ins. */
const throttledRequests = 1_200
const maxFailedShare = 0.01

/** Requests of all kinds, evenly over a minute in which AWS throttles three of ten calls. */
function throttled(): Operation[] {
  const after = throttledMilliseconds / throttledRequests
  const reads = ['account/info', 'account/bills', 'dashboard/overview', 'community/members']
  const requests = Array.from({ length: throttledRequests }, (_, i): Operation => {
    const userId = userIds[i % userIds.length] ?? 0
    if (i % 10 === 9) return { after, kind: 'note', userId, target: userId + 1, note: `note ${i}` }
    if (i % 10 === 8) return { after, kind: 'address', userId, currency: 'USDT', network: 'TRON' }
    if (i % 600 === 0) return signIn(after, ['consent', 'exchange'])
    return { after, kind: 'read', userId, what: reads[i % reads.length] ?? '' }
  })
  return [{ after: 0, kind: 'throttle', share: 0.3, milliseconds: throttledMilliseconds }, ...requests]
}

/** How long after somebody disabled the key the operator lets the rotation run. */
const reactionMilliseconds = 20_000
const maxHealingMilliseconds = 60_000

const disabledKey: readonly Operation[] = [
  signIn(0, []),
  { after: 60_000, kind: 'disableKey' },
  signIn(1_000, ['consent', 'exchange']),
  { after: reactionMilliseconds, kind: 'rotate', input: { action: 'rotate', emergency: true } },
]

/** What is tried, with what must be seen then: it resolves with what is not so, and tells the figures. */
const scenarios: readonly {
  operations: readonly Operation[]
  check: (seen: Outcome['seen']) => { figures: string; isRight: boolean }
}[] = [
  {
    operations: throttled(),
    check: ({ throttled: { sent, failed } }) => ({
      figures: `with 30 % of calls throttled for a minute, ${failed} of ${sent} requests were answered 503`,
      isRight: sent >= throttledRequests && failed <= sent * maxFailedShare,
    }),
  },
  {
    operations: disabledKey,
    check: ({ unavailableAt, rotatedAt }) => {
      // The first run is that of the deployment.
      const healedAt = rotatedAt[1] ?? Infinity
      const last = Math.max(...unavailableAt, healedAt)
      return {
        figures:
          `with the active key disabled, ${unavailableAt.length} requests were answered 503; ` +
          `${rotatedAt.length - 1} run of the rotation, then none after ${(last - healedAt) / 1000} s`,
        isRight:
          unavailableAt.length > 0 && rotatedAt.length === 2 && last - healedAt <= maxHealingMilliseconds,
      }
    },
  },
]

/** Runs the scenarios, tells their figures, and resolves with the problems. */
export async function runScenarios(): Promise<string[]> {
  const problems: string[] = []
  for (const [i, { operations, check }] of scenarios.entries()) {
    const outcome = await runHistory(historyOf(i, operations))
    const { figures, isRight } = check(outcome.seen)
    console.log(figures)
    problems.push(...outcome.problems, ...(isRight ? [] : [`not so: ${figures}`]))
  }
  return problems
}

function historyOf(i: number, operations: readonly Operation[]): History {
  const draws = openDraws(i)
  // Each on a day of its own, as in history.ts.
  const day = begin + i * 86_400_000
  const start = drawStart({ draws, begin: day, userIds, sent: [], signsIn: true })
  return {
    seed: i,
    begin: day,
    weather: calm,
    userIds,
    operations: [...start, quiet, ...operations, quiet],
  }
}
