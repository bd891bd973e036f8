import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { beforeEach, expect, it, vi } from 'vitest'
import { warmUp } from '../../../shared/http/warm-up.ts'
import { readAuthorization } from '../../../shared/http/request.ts'
import { log } from '../../../shared/log.ts'
import { checkAccessToken } from '../../../shared/tokens/access-token.ts'
import { tamperCalls, type TamperedCall } from '../../support/tamper-calls.ts'

beforeEach(() => void vi.stubEnv('AWS_LAMBDA_INITIALIZATION_TYPE', 'on-demand'))

async function warmUpWith(decide: (call: TamperedCall) => Promise<unknown>) {
  const [info, warn] = [vi.spyOn(log, 'info').mockReset(), vi.spyOn(log, 'warn').mockReset()]
  const calls: string[] = []
  const { restore } = tamperCalls((call) => {
    calls.push(call.name)
    return decide(call)
  })
  try {
    await warmUp({
      async rehearse(event) {
        await checkAccessToken(readAuthorization(event, 'bearer') ?? '', 'first-party')
        throw new Error('the token of nobody was accepted')
      },
    })
  } finally {
    restore()
  }
  const logged = [...info.mock.calls, ...warn.mock.calls].map(([message]) => message)
  return { calls, logged, cause: warn.mock.lastCall?.[1] }
}

it('a starting function handles five warm-up requests with one call to the table', async () => {
  let sent = 0
  const onStart = () => (sent += 1)
  subscribe('http.client.request.start', onStart)
  const { calls, logged } = await warmUpWith(({ perform }) => perform())
  unsubscribe('http.client.request.start', onStart)
  expect(calls).toEqual(Array(5).fill('BatchGetCommand'))
  expect(sent).toBe(1)
  expect(logged).toEqual(['initialized'])
})

const deny = () => Promise.reject(new Error('denied'))
const hang = () => new Promise(() => undefined)
it.each([
  ['the first call to the table is denied', 'Error', deny, 1],
  ['the first call to the table is never answered', 'OutOfTime', hang, 1],
  ['every call to the table is denied', 'Error', deny, 5],
  ['no call to the table is ever answered', 'OutOfTime', hang, 5],
])('a function starts and logs a warning even if %s', async (_what, name, fail, failures) => {
  let sent = 0
  const { logged, cause } = await warmUpWith(({ perform }) => ((sent += 1) > failures ? perform() : fail()))
  expect(logged).toEqual(['initialized', 'warm-up failed'])
  expect(cause).toMatchObject({ cause: { name } })
})

it('a warning is logged if a warm-up request with an unknown token is accepted', async () => {
  const warn = vi.spyOn(log, 'warn').mockReset()
  vi.spyOn(log, 'info').mockReset()
  await warmUp({ rehearse: async () => ({ statusCode: 200 }) })
  expect(warn).toHaveBeenCalledTimes(1)
})

it('a function that is loaded elsewhere than on Lambda does not warm up', async () => {
  vi.stubEnv('AWS_LAMBDA_INITIALIZATION_TYPE', undefined)
  const rehearse = vi.fn()
  await warmUp({ rehearse })
  expect(rehearse).not.toHaveBeenCalled()
})
