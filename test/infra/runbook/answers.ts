import { setTimeout as wait } from 'node:timers/promises'
import { expect } from 'vitest'
import { countMessages, listQueues, openSqs, totalOf } from '../../../infra/ops/dead-letters/queues.ts'
import { findTarget } from '../../../infra/ops/target.ts'
import { BillType } from '../../../shared/ledger/bill-types.ts'
import { scopes } from '../../../shared/tokens/scopes.ts'
import { createAccessToken } from '../../support/community.ts'

/** Everything that a client can read about its user, keyed by user and path. */
type Answers = Record<string, unknown>

/** Path of the deposit address of a user on a network. */
export const addressPath = (network: string): string =>
  `/address/info?currency=USDT&currencyNetWork=${network}`

/** How long queues may take to become empty: on a busy machine an event may be retried after a minute. */
const maxSettleMilliseconds = 180_000

/** Waits until every queue is empty. */
export async function settle(url: string): Promise<void> {
  const sqs = openSqs()
  const queues = listQueues(await findTarget({ url })).flatMap(({ queue }) => queue ?? [])
  const count = async () => {
    const counts = await Promise.all(queues.map((queue) => countMessages(sqs, queue)))
    return counts.reduce((sum, one) => sum + totalOf(one), 0)
  }
  const deadline = Date.now() + maxSettleMilliseconds
  while ((await count()) > 0) {
    if (Date.now() > deadline) throw new Error('the queues do not become empty')
    await wait(100)
  }
  sqs.destroy()
}

/** Sends a GET request that must succeed, and resolves with the JSON of its answer. */
export async function get(url: string, token: string, path: string): Promise<unknown> {
  const response = await fetch(url + path, { headers: { authorization: `Bearer ${token}` } })
  expect(response.status, path).toBe(200)
  return response.json()
}

/** Requests everything that clients can read about these users. Leaves out what a replay changes. */
export async function readEverything(
  url: string,
  users: readonly number[],
  network: string,
): Promise<Answers> {
  const answers: Answers = {}
  const read = async (userId: number) => {
    const token = await createAccessToken(userId, [...scopes])
    for (const path of pathsWith(network))
      answers[`${userId} ${path}`] = comparable(await get(url, token, path), path)
  }
  await Promise.all(users.map(read))
  return answers
}

const page = 'current=1&size=20'

function pathsWith(network: string): string[] {
  const today = new Date().toISOString().slice(0, 10)
  const dates = ['', `&beginTime=${today}`, `&endTime=2026-01-01`]
  const types = BillType.options.map((type) => `&businessId=${type}`)
  const kinds = ['', '&amountDirection=1', '&amountDirection=2', ...types]
  const filters = ['', '&currency=USDT'].flatMap((currency) => kinds.map((kind) => currency + kind))
  const pages = [1, 2, 3].map((current) => `current=${current}&size=3`)
  const bills = [...filters, '&currency=BTC', ...dates].map((filter) => page + filter)
  return [
    '/account/info',
    '/account/asset',
    '/bonus-account/info',
    '/bonus-account/asset',
    ...['account', 'bonus-account'].flatMap((wallet) =>
      [...bills, ...pages].map((query) => `/${wallet}/bills?${query}`),
    ),
    `/community/members?type=DIRECT&${page}`,
    ...['renamed', 'user', 'newcomer', '@example.com'].map(
      (keyword) => `/community/members?type=COMMUNITY&keyword=${keyword}&${page}`,
    ),
    '/community/members?type=COMMUNITY&keyword=newcomer&current=40&size=20',
    `/community/members?type=DIRECT&keyword=newcomer&beginDate=2026-01-01&${page}`,
    '/community/members/export?type=COMMUNITY',
    '/dashboard/overview',
    '/dashboard/network-rewards',
    '/dashboard/earnings',
    addressPath(network),
    ...[...dates, '&currency=USDT', '&currency=BTC'].map((filter) => `/deposit/records?${page}${filter}`),
    '/oauth2/userinfo',
  ]
}

/**
 * Removes from an answer what a replay may change: the times of bookings, and everything that depends on
 * their order (see the runbook). A list of several pages is replaced by its numbers of records and pages.
 */
function comparable(answer: unknown, path: string): unknown {
  if (!/bills|deposit/.test(path)) return answer
  const { data } = answer as { data: { records: Record<string, unknown>[]; total: number; pages: number } }
  const { total, pages } = data
  if (pages > 1) return { total, pages, size: data.records.length }
  // The id of a bill depends on the order of bookings, so a replay may change it. Deposits keep their ids.
  const anew = ['created_at', 'credited_at', 'balance_after', ...(path.includes('bills') ? ['id'] : [])]
  const records = data.records.map((record) =>
    JSON.stringify(Object.entries(record).filter(([name]) => !anew.includes(name))),
  )
  return { total, pages, records: records.toSorted() }
}
