import { randomUUID } from 'node:crypto'
import { scanItems } from '../../../infra/ops/restore/scan-items.ts'
import type { Key } from '../../../shared/db/table.ts'
import { writeItem } from '../../../shared/db/write.ts'
import { readSignInRecord, signInKey } from '../../../shared/sign-in/record.ts'
import { createUser, md5, type TestUser } from '../../support/sign-in.ts'

interface NewUser {
  authenticator?: boolean
  nickname?: string
  referrer_id?: number
}

/**
 * Registers a new user, with other values of the registration if given. `password` is what the user types;
 * `totpSecret` is empty without authenticator.
 */
export async function newUser({ authenticator = false, ...values }: NewUser = {}): Promise<TestUser> {
  const password = `pässwörd ${randomUUID()}`
  const user = await createUser({
    email: `user-${randomUUID()}@example.com`,
    login_password: md5(password),
    ...(!authenticator && { totp_secret: undefined }),
    ...values,
  })
  return { ...user, password, totpSecret: authenticator ? user.totpSecret : '' }
}

/** Makes all login tickets of a user expire, by setting their expiry to the past. */
export async function expireTickets({ userId }: TestUser): Promise<void> {
  const record = await readSignInRecord(userId)
  for (const ticket of Object.keys(record?.tickets ?? {}))
    await setToPast(signInKey(userId), 'tickets.#ticket.expires_at', { '#ticket': ticket })
}

/** Makes all sign-ins of a user look old, by setting the instant of each to the past. */
export async function ageSignIns(userId: number): Promise<void> {
  const tokens = {
    FilterExpression: 'begins_with(sk, :kind) AND userId = :userId',
    ExpressionAttributeValues: { ':kind': 'TOKEN#', ':userId': userId },
  }
  for await (const { pk, sk } of scanItems(tokens, 1)) await setToPast({ pk, sk } as Key, 'authenticatedAt')
}

const setToPast = (Key: Key, attribute: string, ExpressionAttributeNames?: Record<string, string>) =>
  writeItem({
    Update: {
      Key,
      UpdateExpression: `SET ${attribute} = :past`,
      ExpressionAttributeNames,
      ExpressionAttributeValues: { ':past': 1 },
    },
  })
