import { setTimeout as wait } from 'node:timers/promises'
import { expect } from 'vitest'
import { tableName } from '../../../shared/db/table.ts'
import { readWallet } from '../../../shared/ledger/wallet.ts'
import { addUser, adjustment } from '../../support/ledger.ts'
import { putEvents } from '../../support/put-event.ts'
import { follow, pollOptions, type Procedure } from './follow.ts'
import type { People, Session } from './people.ts'
import { openTables } from './restore-table.ts'

const running = { requests: 'running', events: 'running', schedules: 'running' }
const stopped = { requests: 'stopped', events: 'stopped', schedules: 'stopped' }

/** Rehearses the switch under traffic: sign-ins, requests with a token, and events. */
export async function stoppingTheService(
  url: string,
  people: People,
  layout: Record<string, unknown>,
): Promise<void> {
  const procedure = follow('Stopping the service', url)
  const session = await people.signIn()
  const before = await deadLetters(procedure)
  const userIds = await Promise.all(Array.from({ length: 40 }, () => addUser()))
  await using traffic = startTraffic(url, people, session, userIds)
  await expect
    .poll(() => traffic.answers.filter((status) => status === 200).length, pollOptions)
    .toBeGreaterThan(5)

  expect(await procedure.ops('maintenance on')).toMatchObject({ code: 0, result: stopped })
  await expectNothingIsWritten(traffic, layout)
  await expectAnswers(url, people, session)
  expect(await procedure.ops('maintenance status')).toMatchObject({ code: 1, result: stopped })
  const doctor = (await procedure.ops('doctor')).result as { checks: { check: string; ok: boolean }[] }
  expect(doctor.checks.find(({ check }) => check === 'maintenance')).toMatchObject({ ok: false })

  await procedure.ops('maintenance off --only events')
  await expectApplied(userIds, traffic)
  expect(await people.read(session.accessToken)).toBe(503)
  expect(await procedure.ops('maintenance off')).toMatchObject({ code: 0, result: running })
  expect(await people.read(session.accessToken)).toBe(200)
  await traffic.stop()
  await expectApplied(userIds, traffic)
  expect(new Set(traffic.answers)).toEqual(new Set([200, 503]))
  expect(await deadLetters(procedure)).toBe(before)
}

/** Sends an event, a request with a token and a password again and again. */
function startTraffic(url: string, people: People, { user, accessToken }: Session, userIds: number[]) {
  const stop = new AbortController()
  const traffic = { answers: [] as number[], events: 0 }
  const repeat = async (act: () => Promise<unknown>) => {
    while (!stop.signal.aborted) {
      await act()
      await wait(20)
    }
  }
  const ask = async (path: string, init: RequestInit) => {
    const { status } = await fetch(url + path, init)
    traffic.answers.push(status)
  }
  const done = Promise.all([
    repeat(async () => {
      // Counted before it is sent, because it may take effect before the bus has answered.
      traffic.events += 1
      await putEvents('wallet.adjusted', [adjustment(userIds[traffic.events % userIds.length] ?? 0)])
    }),
    repeat(() => ask('/account/info', { headers: { authorization: `Bearer ${accessToken}` } })),
    repeat(async () => void traffic.answers.push((await people.sendPassword(user)).status)),
  ])
  const end = async () => {
    stop.abort()
    await done
  }
  return Object.assign(traffic, { stop: end, [Symbol.asyncDispose]: end })
}

type Traffic = ReturnType<typeof startTraffic>

/** Expects that while requests and events come in, no item of the table is new or differs. */
async function expectNothingIsWritten(traffic: Traffic, layout: Record<string, unknown>): Promise<void> {
  const tables = openTables(layout)
  const read = async () =>
    new Set((await tables.takeSnapshot(tableName())).items.map((item) => JSON.stringify(item)))
  const before = await read()
  const { events } = traffic
  const answers = traffic.answers.length
  await expect.poll(() => traffic.events, pollOptions).toBeGreaterThan(events + 20)
  await expect.poll(() => traffic.answers.length, pollOptions).toBeGreaterThan(answers + 20)
  expect([...(await read())].filter((item) => !before.has(item))).toEqual([])
  expect(new Set(traffic.answers.slice(answers))).toEqual(new Set([503]))
  tables.close()
}

/** Expects the envelope with Retry-After from every function, and the key set and discovery as always. */
async function expectAnswers(url: string, people: People, { deviceToken }: Session): Promise<void> {
  const answer = await fetch(`${url}/community/members?current=1&size=5`)
  expect(answer.headers.get('retry-after')).toBe('60')
  expect(await answer.json()).toEqual({ code: 50300, msg: 'temporarily unavailable, try again', data: null })
  expect((await fetch(`${url}/.well-known/openid-configuration`)).status).toBe(200)
  expect(await people.verifies(deviceToken)).toBe(true)
}

/** Expects that every event that was sent takes effect once. */
async function expectApplied(userIds: number[], traffic: Traffic): Promise<void> {
  const sent = traffic.events
  const balance = async () => {
    const wallets = await Promise.all(
      userIds.map((userId) => readWallet({ userId, wallet: 'asset' }, { consistent: true })),
    )
    return wallets.reduce((sum, { holdings }) => sum + (holdings.get('USDT')?.balance.toNumber() ?? 0), 0)
  }
  await expect.poll(balance, { timeout: 40_000, interval: 200 }).toBeGreaterThanOrEqual(sent)
  expect(await balance()).toBeLessThanOrEqual(traffic.events)
}

async function deadLetters({ ops }: Procedure): Promise<number> {
  const { queues } = (await ops('dlq list')).result as { queues: { dead_letters: number }[] }
  return queues.reduce((sum, { dead_letters: count }) => sum + count, 0)
}
