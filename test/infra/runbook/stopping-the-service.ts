import { expect } from 'vitest'
import { addUser, adjustment, holdingsOf } from '../../support/ledger.ts'
import { putEvents } from '../../support/put-event.ts'
import { follow, pollOptions } from './follow.ts'
import type { People } from './people.ts'

const running = { requests: 'running', events: 'running', schedules: 'running' }
const stopped = { requests: 'stopped', events: 'stopped', schedules: 'stopped' }

/** Tests that a stopped stage refuses all requests except for the key set, and that its events wait. */
export async function stoppingTheService(url: string, people: People): Promise<void> {
  const { ops } = follow('Stopping the service', url)
  const letters = follow('A flooded dead-letter queue', url)
  const session = await people.signIn()
  const userId = await addUser()
  const balance = async () => (await holdingsOf(userId))['USDT']
  const waiting = async () => {
    const { queues } = (await letters.ops('dlq list')).result as {
      queues: { name: string; waiting: number }[]
    }
    return queues.find(({ name }) => name === 'wallet-adjusted')?.waiting
  }

  expect(await ops('maintenance on')).toMatchObject({ code: 0, result: stopped })
  const answer = await fetch(`${url}/community/members?current=1&size=5`)
  expect(answer.headers.get('retry-after')).toBe('60')
  expect(await answer.json()).toEqual({ code: 50300, msg: 'temporarily unavailable, try again', data: null })
  expect(await people.verifies(session.deviceToken)).toBe(true)
  await putEvents('wallet.adjusted', [adjustment(userId, { amount: '3' })])
  await expect.poll(waiting, pollOptions).toBe(1)
  expect(await balance()).toBeUndefined()
  const doctor = (await ops('doctor')).result as { checks: { check: string; ok: boolean }[] }
  expect(doctor.checks.find(({ check }) => check === 'maintenance')).toMatchObject({ ok: false })

  await ops('maintenance off --only events')
  await expect.poll(balance, pollOptions).toBe('3 0 0 0')
  expect(await people.read(session.accessToken)).toBe(503)
  expect(await ops('maintenance off')).toMatchObject({ code: 0, result: running })
  expect(await people.read(session.accessToken)).toBe(200)
}
