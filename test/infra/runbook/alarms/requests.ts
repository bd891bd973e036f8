import { expect } from 'vitest'
import { bearer, createSession } from '../../../support/oauth-clients.ts'
import { createUser } from '../../../support/sign-in.ts'
import { pollOptions } from '../follow.ts'
import type { AlarmRehearsal, Room } from './room.ts'

const minute = 1

/** Sends so many requests, twenty at a time, and resolves with their statuses. */
async function flood(count: number, ask: () => Promise<{ status: number }>): Promise<number[]> {
  const statuses: number[] = []
  const work = async () => {
    while (statuses.length < count) statuses.push((await ask()).status)
  }
  await Promise.all(Array.from({ length: 20 }, work))
  return statuses
}

/** Sends a request in each of two periods of five minutes, and expects this status. */
async function askTwice({ url, pass }: Room, status: number): Promise<Response> {
  const { accessToken } = await createSession()
  const ask = () => fetch(`${url}/account/info`, { headers: bearer(accessToken) })
  expect((await ask()).status).toBe(status)
  await pass(5)
  const answer = await ask()
  expect(answer.status).toBe(status)
  return answer
}

let failed = ''

/** The alarms on what requests look like from outside. */
export const requestAlarms: AlarmRehearsal[] = [
  {
    cause: 'a deployment took a permission from a function',
    raises: ['api-server-errors'],
    journey: 'requests',
    async fault(room) {
      room.stack.aws.replacePolicies({ ...room.functionOf('account-info'), policies: [] })
      failed = (await askTwice(room, 500)).headers.get('x-request-id') ?? ''
    },
    async mend({ stack, functionOf, section, people }) {
      const { ops } = section('server-errors')
      expect(await ops('maintenance status')).toMatchObject({ code: 0 })
      const lines = async () => JSON.stringify((await ops('trace ID', { ID: failed })).result)
      await expect.poll(lines, pollOptions).toContain('AccessDenied')
      stack.aws.replacePolicies(functionOf('account-info'))
      expect(await people.read((await createSession()).accessToken)).toBe(200)
    },
  },
  {
    cause: 'somebody has switched off requests and forgotten it',
    raises: ['api-server-errors'],
    journey: 'requests',
    async fault(room) {
      await room.section('Stopping the service').ops('maintenance on')
      await askTwice(room, 503)
    },
    async mend({ section, people }) {
      const { ops } = section('server-errors')
      expect(await ops('maintenance status')).toMatchObject({ code: 1, result: { requests: 'stopped' } })
      expect(await ops('maintenance off')).toMatchObject({ code: 0 })
      expect(await people.read((await createSession()).accessToken)).toBe(200)
    },
  },
  {
    cause: 'DynamoDB takes a minute to answer',
    raises: ['api-latency'],
    journey: 'requests',
    async fault({ relay, stack, url, pass }) {
      const { accessToken } = await createSession()
      for (let period = 0; period < 3; period += 1) {
        const arrived = relay.hold('TOKENS#')
        const answer = fetch(`${url}/account/info`, { headers: bearer(accessToken) })
        await arrived
        stack.aws.cloudwatch.advance(minute)
        relay.recover()
        expect((await answer).status).toBe(200)
        await pass(period < 2 ? 4 : 0)
      }
    },
    async mend({ section, logOf }) {
      section('latency')
      expect(logOf('account-info').some((line) => 'duration_ms' in line)).toBe(true)
    },
    quietMinutes: 16,
  },
  {
    cause: 'a flood of requests without a token',
    raises: ['api-client-errors'],
    journey: 'requests',
    async fault({ url, pass }) {
      const ask = () => fetch(`${url}/community/members/export`)
      expect(new Set(await flood(1_020, ask))).toEqual(new Set([401, 429]))
      await pass(5)
      await flood(1_020, ask)
    },
    async mend({ section, counted }) {
      section('client-errors')
      await counted('Failures', 1, { failure: 'unauthenticated' })
    },
    quietMinutes: 11,
  },
  {
    cause: 'one source sends a wrong password again and again',
    raises: ['too-many-requests', 'user-login-with-password-at-throttle'],
    journey: 'requests',
    async fault({ people, counted }) {
      const { email } = await createUser()
      const wrong = { email, password: '0'.repeat(32), userId: 0, totpSecret: '' }
      await flood(312, () => people.sendPassword(wrong))
      await counted('Failures', 300, { failure: 'too_many_requests' })
    },
    async mend({ section, logOf }) {
      section('too-many-requests')
      section('at-throttle')
      const refused = logOf('user-login-with-password').filter(({ limit }) => limit === 'source')
      expect(refused.at(-1)).toMatchObject({
        failure: 'too_many_requests',
        status: 429,
        user_id: expect.any(Number) as number,
        source_network: expect.any(String) as string,
      })
    },
  },
]
