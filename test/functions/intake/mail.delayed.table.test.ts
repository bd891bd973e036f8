import { SESv2Client } from '@aws-sdk/client-sesv2'
import { expect, it, vi } from 'vitest'
import { handler } from '../../../functions/intake/mail.delayed.ts'
import { deliver, refusedAs } from '../../support/deliver.ts'
import { addLoginTicket, delayedMail } from '../../support/login-tickets.ts'
import { measureCalls } from '../../support/measure-calls.ts'
import { createUser, md5, type TestUser, update } from '../../support/sign-in.ts'
import { verifyMailed } from '../../support/sign-in-calls.ts'

async function deliverMail(user: TestUser, ticket: string, changes: object = {}) {
  const sent = vi.spyOn(SESv2Client.prototype, 'send')
  try {
    let delivery
    const { names } = await measureCalls(async () => {
      delivery = await deliver(handler, { ...delayedMail(user, ticket), ...changes })
    })
    return { delivery, mails: sent.mock.calls.length, names }
  } finally {
    sent.mockRestore()
  }
}

it('a delayed code is mailed if the sign-in is still open; the handler makes only one read of the table', async () => {
  const user = await createUser()
  const ticket = await addLoginTicket(user, '123456')
  expect(await deliverMail(user, ticket)).toEqual({ delivery: 'done', mails: 1, names: ['GetItem'] })
})

it('a delayed code is not mailed if the sign-in was completed', async () => {
  const user = await createUser()
  const [ticket, other] = [await addLoginTicket(user, '123456'), await addLoginTicket(user, '654321')]
  expect((await verifyMailed(user, ticket, '123456')).code).toBe(0)
  expect(await deliverMail(user, ticket)).toEqual({ delivery: 'done', mails: 0, names: ['GetItem'] })
  expect(await deliverMail(user, other)).toMatchObject({ mails: 1 })
})

it('a delayed code is not mailed if the sign-in has been ended by a new password', async () => {
  const user = await createUser()
  const ticket = await addLoginTicket(user, '123456')
  const login_password = md5('a new one')
  await update({ update_id: ticket, user_id: user.userId, at: Date.now(), login_password })
  expect(await deliverMail(user, ticket)).toMatchObject({ delivery: 'done', mails: 0 })
})

it('a delayed code that has expired is not mailed, even if its login ticket is still stored', async () => {
  const user = await createUser()
  const ticket = await addLoginTicket(user, '123456')
  expect(await deliverMail(user, ticket, { expires_at: Date.now() - 1 })).toMatchObject({
    delivery: refusedAs('expired'),
    mails: 0,
  })
})
