import { marshall } from '@aws-sdk/util-dynamodb'
import { expect, test } from 'vitest'
import { readItem } from '../../../shared/db/read.ts'
import { transact } from '../../../shared/db/write.ts'
import { addTicket } from '../../../shared/sign-in/password/open-ticket.ts'
import { networkDigest } from '../../../shared/sign-in/limits/source.ts'
import { acceptSecondFactor, readSignInRecord, signInKey } from '../../../shared/sign-in/record.ts'
import { itemBytes } from '../../support/item-bytes.ts'
import { createUser } from '../../support/sign-in.ts'

const read = async (userId: number) => (await readSignInRecord(userId)) ?? expect.unreachable()

async function put(userId: number, hash: string, expiresAt: number, network = 'elsewhere'): Promise<void> {
  const ticket = { hash, expiresAt, codeDigest: undefined, network }
  const step = { reservedAt: Date.now(), ticket, mails: undefined, newHash: undefined }
  await addTicket(await read(userId), step, Date.now())
}

/** Adds a user with a login ticket `home` of a network that the user has signed in from. */
async function addUserAtHome(later: number): Promise<number> {
  const { userId } = await createUser()
  const home = networkDigest('192.0.2.1')
  await put(userId, 'sign-in', later, home)
  const step = { ticketHash: 'sign-in', totpStep: undefined, network: home }
  await transact([acceptSecondFactor(await read(userId), step, Date.now())])
  await put(userId, 'home', later, home)
  return userId
}

test('tickets of an unknown network displace its own but for the latest 16, none of a known one', async () => {
  const later = Date.now() + 60_000
  const userId = await addUserAtHome(later)
  for (let i = 1; i <= 20; i += 1) await put(userId, `one-${i}`, later + i, 'one network')
  const ofOne = Array.from({ length: 16 }, (_, i) => `one-${i + 5}`)
  expect(Object.keys((await read(userId)).tickets).sort()).toEqual(['home', ...ofOne].sort())
})

test('tickets of many unknown networks displace theirs but for the latest 32, none of a known one', async () => {
  const later = Date.now() + 60_000
  const userId = await addUserAtHome(later)
  for (let i = 1; i <= 40; i += 1) await put(userId, `many-${i}`, later + 100 + i, `network ${i}`)
  const ofMany = Array.from({ length: 32 }, (_, i) => `many-${i + 9}`)
  expect(Object.keys((await read(userId)).tickets).sort()).toEqual(['home', ...ofMany].sort())
})

test('adding a login ticket removes expired login tickets', async () => {
  const { userId } = await createUser()
  await put(userId, 'expired', Date.now() - 1)
  await put(userId, 'live', Date.now() + 60_000)
  expect(Object.keys((await read(userId)).tickets)).toEqual(['live'])
})

test('a sign-in record lists the 64 most recent networks once, newest first, in under 1 KB', async () => {
  const { userId } = await createUser()
  const networks = Array.from({ length: 70 }, (_, i) => networkDigest(`192.0.2.${i}`))
  for (const network of [...networks, networks[10] ?? '']) {
    await put(userId, 'ticket', Date.now() + 60_000, network)
    const step = { ticketHash: 'ticket', totpStep: undefined, network }
    await transact([acceptSecondFactor(await read(userId), step, Date.now())])
  }
  const latest = [networks[10], ...networks.filter((network) => network !== networks[10]).reverse()]
  const record = await read(userId)
  expect(record.networks).toEqual(latest.slice(0, 64))
  const item = (await readItem(signInKey(userId), { consistent: true })) ?? expect.unreachable()
  expect(itemBytes(marshall(item))).toBeLessThan(1_024)
})
