import { expect, test } from 'vitest'
import { transact } from '../../../shared/db/write.ts'
import { acceptSecondFactor } from '../../../shared/sign-in/code/try.ts'
import { addTicket } from '../../../shared/sign-in/password/open-ticket.ts'
import { readSignInRecord } from '../../../shared/sign-in/record.ts'
import { createUser } from '../../support/sign-in.ts'

const read = async (userId: number) => (await readSignInRecord(userId)) ?? expect.unreachable()

/** Adds a login ticket directly, without the cost of a password check. */
async function put(userId: number, hash: string, expiresAt: number): Promise<void> {
  const ticket = { hash, expiresAt, codeDigest: undefined }
  const step = { reservedAt: Date.now(), ticket, mailSlot: undefined, newHash: undefined }
  await addTicket(await read(userId), step, Date.now())
}

test('a user has at most 64 live login tickets; a new one replaces the oldest', async () => {
  const { userId } = await createUser()
  const later = Date.now() + 60_000
  for (let i = 0; i < 66; i += 1) await put(userId, `ticket-${i}`, later + i)
  const hashes = Object.keys((await read(userId)).tickets)
  expect(hashes).toHaveLength(64)
  expect(hashes).not.toContain('ticket-0')
  expect(hashes).not.toContain('ticket-1')
  expect(hashes).toContain('ticket-65')
})

test('a new login ticket removes those that have expired', async () => {
  const { userId } = await createUser()
  await put(userId, 'expired', Date.now() - 1)
  await put(userId, 'live', Date.now() + 60_000)
  expect(Object.keys((await read(userId)).tickets)).toEqual(['live'])
})

test('the eight latest source networks of a user are remembered, each once, the latest first', async () => {
  const { userId } = await createUser()
  for (const network of ['0', '1', '2', '3', '4', '5', '6', '7', '8', '3']) {
    await put(userId, 'ticket', Date.now() + 60_000)
    const step = { ticketHash: 'ticket', totpStep: undefined, network }
    await transact([acceptSecondFactor(await read(userId), step, Date.now())])
  }
  expect((await read(userId)).networks).toEqual(['3', '8', '7', '6', '5', '4', '2', '1'])
})
