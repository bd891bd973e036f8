import { EventBridgeClient, type PutEventsCommand } from '@aws-sdk/client-eventbridge'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import { writeItem } from '../../../shared/db/write.ts'
import { readSignInRecord, signInKey } from '../../../shared/sign-in/record.ts'
import { tryAttribute } from '../../../shared/sign-in/limits/tries.ts'
import { composeWarningMail } from '../../../shared/sign-in/send-mail.ts'
import { addLoginTicket } from '../../support/login-tickets.ts'
import { login, verifyMailed } from '../../support/sign-in-calls.ts'
import { createUser } from '../../support/sign-in.ts'

/** The kinds of the mails that were requested. */
let mails: (string | undefined)[] = []
beforeEach(() => {
  mails = []
  vi.spyOn(EventBridgeClient.prototype, 'send').mockImplementation((command: unknown) => {
    const { Entries = [] } = (command as PutEventsCommand).input
    mails.push(...Entries.map(({ Detail = '' }) => (JSON.parse(Detail) as { kind?: string }).kind))
    return Promise.resolve({ FailedEntryCount: 0 }) as never
  })
})
const warnings = () => mails.filter((kind) => kind !== 'code')

describe('after a hundred wrong codes in a row, however slowly they came,', () => {
  async function closeCodes() {
    const user = await createUser()
    const send = async (code: string) => verifyMailed(user, await addLoginTicket(user, '123456'), code)
    // Simulates 98 wrong codes that were entered in earlier hours.
    await setWrongCodes(user.userId, 98)
    expect(await send('000000')).toMatchObject({ code: 40103 })
    expect(await send('000000')).toMatchObject({ status: 429 })
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 40 * 86_400_000 })
    return { user, answers: [await send('123456'), await send('000000'), await send('123456')] }
  }

  test('even right codes are refused', async () => {
    const { user, answers } = await closeCodes()
    for (const answer of answers) expect(answer).toMatchObject({ status: 429 })
    expect((await readSignInRecord(user.userId))?.wrong_codes).toBe(100)
  })

  test('the user is told once', async () => {
    await closeCodes()
    expect(warnings()).toEqual(['codes_closed'])
  })
})

test('a right code before the hundredth wrong one resets the count of wrong codes', async () => {
  const user = await createUser()
  await setWrongCodes(user.userId, 99)
  expect((await verifyMailed(user, await addLoginTicket(user, '123456'), '123456')).code).toBe(0)
  expect((await readSignInRecord(user.userId))?.wrong_codes).toBe(0)
})

test('a user without an authenticator gets one warning if sign-ins request more than five mails in an hour', async () => {
  const user = await createUser({ totp_secret: undefined })
  const codes = []
  for (let i = 0; i < 8; i += 1) codes.push((await login(user)).code)
  expect(codes).toEqual([0, 0, 0, 0, 0, 42900, 42900, 42900])
  expect(warnings()).toEqual(['no_more_mails'])
  expect(composeWarningMail('no_more_mails').text).toMatch(/^Your password has been entered so often/)
})

const setWrongCodes = (userId: number, count: number) =>
  writeItem({
    Update: {
      Key: signInKey(userId),
      UpdateExpression: 'SET wrong_codes = :count, #minute = :none',
      ExpressionAttributeNames: { '#minute': tryAttribute('code', Date.now()) },
      ExpressionAttributeValues: { ':count': count, ':none': 0 },
    },
  })
