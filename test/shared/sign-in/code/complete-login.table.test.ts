import { beforeEach, expect, test, vi } from 'vitest'
import { writeItem } from '../../../../shared/db/write.ts'
import { codeCounter, signInKey } from '../../../../shared/sign-in/record.ts'
import { tryAttribute } from '../../../../shared/sign-in/limits/tries.ts'
import { addLoginTicket } from '../../../support/login-tickets.ts'
import { createUser, type TestUser } from '../../../support/sign-in.ts'
import { verifyMailed } from '../../../support/sign-in-calls.ts'
import { tamperCalls } from '../../../support/tamper-calls.ts'

const blocked = { status: 429, code: 42900, data: null }

let user: TestUser
let ticket: string
beforeEach(async () => {
  user = await createUser()
  ticket = await addLoginTicket(user, '123456')
})

const guess = () => verifyMailed(user, ticket, '654321')

const countWrong = (count: number, minutesAgo: number) =>
  writeItem({
    Update: {
      Key: signInKey(user.userId),
      UpdateExpression: 'ADD #count :count',
      ExpressionAttributeNames: { '#count': tryAttribute(codeCounter, Date.now() - minutesAgo * 60_000) },
      ExpressionAttributeValues: { ':count': count },
    },
  })

test('a second factor that is refused during a waiting time does not extend the waiting time', async () => {
  await countWrong(1, 50)
  await countWrong(19, 20)
  const answer = await guess()
  expect(answer).toMatchObject(blocked)
  expect(Number(answer.headers['retry-after'])).toBeLessThanOrEqual(11 * 60)
})

test('the user is warned of wrong codes even if a function dies before it sends the warning', async () => {
  await countWrong(20, 0)
  const { promise: died, resolve: die } = Promise.withResolvers<'died'>()
  let requested = 0
  const { restore } = tamperCalls(({ name, perform }) => {
    if (name !== 'PutEventsCommand') return perform()
    requested += 1
    if (requested > 1) return perform()
    die('died')
    return new Promise(() => undefined)
  })
  vi.useFakeTimers({ toFake: ['Date'] })
  try {
    expect(await Promise.race([died, guess()])).toBe('died')
    expect(await guess()).toMatchObject(blocked)
    expect(requested).toBe(1)
    vi.setSystemTime(Date.now() + 61_000)
    for (let i = 0; i < 3; i += 1) expect(await guess()).toMatchObject(blocked)
    expect(requested).toBe(2)
    vi.setSystemTime(Date.now() + 5 * 60_000)
    expect(await guess()).toMatchObject(blocked)
    expect(requested).toBe(2)
  } finally {
    vi.useRealTimers()
    restore()
  }
})
