import { beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import type { TestAnswer } from '../../../support/call-endpoint.ts'
import { readOutbox } from '../../../support/local-stack.ts'
import { measureCalls } from '../../../support/measure-calls.ts'
import { mailedCode } from '../../../support/outbox.ts'
import { guessAtOnce, openTicket, verifyAuthenticator, verifyMailed } from '../../../support/sign-in-calls.ts'
import { awsError, tamperCalls } from '../../../support/tamper-calls.ts'
import { authenticatorCode, createUser, type TestUser, wrongTotp } from '../../../support/sign-in.ts'

const wrong = { status: 401, code: 40103, data: null }
const blocked = { status: 429, code: 42900, data: null }

/** When a user has sent this many wrong codes in an hour, all further codes are refused. */
const limit = 20

let user: TestUser
beforeEach(async () => {
  user = await createUser()
})

const openTickets = async (count: number): Promise<string[]> => {
  const tickets = []
  for (let i = 0; i < count; i += 1) tickets.push(await openTicket(user))
  return tickets
}

const right = () => authenticatorCode(user.totpSecret)

const guess = async (ticket: string) => verifyAuthenticator(user, ticket, await wrongTotp(user.totpSecret))

const warnings = async () =>
  (await readOutbox(user.email)).filter(({ subject }) => subject.startsWith('Many tries'))

async function expectOneWarning(): Promise<void> {
  await vi.waitFor(async () => expect(await warnings()).toHaveLength(1), { timeout: 20_000, interval: 50 })
  expect((await warnings())[0]?.text).toMatch(/change your password/)
  // Waits for a mail to another user. By then, a second warning would have arrived, too.
  const codes = (await readOutbox(user.email)).length
  const other = await createUser()
  await openTicket(other)
  await mailedCode(other.email)
  expect(await readOutbox(user.email)).toHaveLength(codes)
}

// The user gets one warning.
test('after twenty wrong codes over all login tickets, even the right one is not compared', async () => {
  const tickets = await openTickets(7)
  const last = tickets.pop() ?? ''
  const answers: TestAnswer[] = []
  const { names } = await measureCalls(async () => {
    for (const ticket of tickets) for (let i = 0; i < 5; i += 1) answers.push(await guess(ticket))
  })
  expect(names.filter((name) => name === 'Decrypt')).toHaveLength(limit)
  expect(answers.slice(0, limit - 1)).toEqual(Array(limit - 1).fill(expect.objectContaining(wrong)))
  expect(answers.slice(limit - 1)).toEqual(Array(30 - limit + 1).fill(expect.objectContaining(blocked)))
  const wait = Number(answers[limit - 1]?.headers['retry-after'])
  expect(wait).toBeGreaterThan(3_400)
  expect(wait).toBeLessThanOrEqual(3_660)
  expect(await verifyAuthenticator(user, last, await right())).toMatchObject(blocked)
  await expectOneWarning()
}, 60_000)

// The user gets one warning.
test('of fifty wrong codes at once, over ten login tickets, only twenty are compared', async () => {
  const tickets = await openTickets(10)
  const counts = await guessAtOnce(50, (number) => guess(tickets[number % 10] ?? ''))
  expect(counts).toEqual({ compared: limit, wrong: limit - 1, blocked: 50 - limit + 1 })
  await expectOneWarning()
}, 60_000)

test('a code that is refused without comparison does not count against its login ticket', async () => {
  const tickets = await openTickets(5)
  const last = tickets.pop() ?? ''
  for (const ticket of tickets) for (let i = 0; i < 5; i += 1) await guess(ticket)
  for (let i = 0; i < 6; i += 1) expect(await guess(last)).toMatchObject(blocked)
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 61 * 60_000 })
  // The old login ticket has expired, so the sign-in needs a new one.
  expect((await verifyAuthenticator(user, await openTicket(user), await right())).code).toBe(0)
}, 60_000)

test('a sign-in clears the count of wrong codes', async () => {
  const tickets = await openTickets(4)
  // Mails can overtake one another. So wait for four mails before the fifth ticket requests its mail.
  await mailedCode(user.email, 4)
  tickets.push(...(await openTickets(1)))
  const mailed = await mailedCode(user.email, 5)
  tickets.push(...(await openTickets(2)))
  const guessTimes = async (times: number) => {
    for (let i = 0; i < times; i += 1) expect(await guess(tickets[0] ?? '')).toMatchObject(wrong)
  }
  for (let i = 0; i < 3; i += 1) {
    await guessTimes(5)
    tickets.shift()
  }
  await guessTimes(4)
  expect((await verifyMailed(user, tickets[1] ?? '', mailed)).code).toBe(0)
  tickets.splice(0, 2)
  await guessTimes(5)
  expect((await verifyAuthenticator(user, tickets[1] ?? '', await right())).code).toBe(0)
}, 60_000)

test.each([
  ['the authenticator’s secret cannot be decrypted', 'Decrypt'],
  ['the device_token cannot be signed', 'Sign'],
])(
  'when %s, the code does not count as wrong',
  async (_what, operation) => {
    const ticket = await openTicket(user)
    // The calls fail as after the SDK's retries, but at once.
    const { restore } = tamperCalls(({ name, perform }) =>
      name === `${operation}Command` ? Promise.reject(awsError('ThrottlingException')) : perform(),
    )
    onTestFinished(restore)
    // Six tries, because a login ticket allows five wrong codes.
    for (let i = 0; i < 6; i += 1)
      expect(await verifyAuthenticator(user, ticket, await right())).toMatchObject({ status: 503 })
    restore()
    expect((await verifyAuthenticator(user, ticket, await right())).code).toBe(0)
  },
  60_000,
)
