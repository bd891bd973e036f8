import { CreateKeyCommand } from '@aws-sdk/client-kms'
import { PutCommand } from '@aws-sdk/lib-dynamodb'
import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import { kms } from '../../../shared/aws/kms.ts'
import { db, tableName } from '../../../shared/db/table.ts'
import { readKeySet, signingKeySetKey } from '../../../shared/keys/key-set.ts'
import { putEvents } from '../../support/put-event.ts'
import { createUser, md5, newRegistration, register, type TestUser } from '../../support/sign-in.ts'
import { replaceKeys } from './a-leaked-signing-key.ts'
import { findings, follow, pollOptions } from './follow.ts'
import type { People } from './people.ts'

/**
 * Runs `work` with MAC and TOTP keys that KMS does not know, like functions in a region without these keys.
 */
async function inAnotherRegion<Result>(work: () => Promise<Result>): Promise<Result> {
  const here = { MAC_KEY_ID: process.env['MAC_KEY_ID'], TOTP_KEY_ID: process.env['TOTP_KEY_ID'] }
  const make = async (KeySpec: 'HMAC_256' | 'SYMMETRIC_DEFAULT') => {
    const KeyUsage = KeySpec === 'HMAC_256' ? 'GENERATE_VERIFY_MAC' : 'ENCRYPT_DECRYPT'
    const { KeyMetadata } = await kms.send(new CreateKeyCommand({ KeySpec, KeyUsage }))
    return KeyMetadata?.KeyId
  }
  Object.assign(process.env, {
    MAC_KEY_ID: await make('HMAC_256'),
    TOTP_KEY_ID: await make('SYMMETRIC_DEFAULT'),
  })
  try {
    return await work()
  } finally {
    Object.assign(process.env, here)
  }
}

/** Replaces the key set by one whose KMS keys are in another region, as in a copied table. */
async function storeForeignKeySet(): Promise<void> {
  const keySet = await readKeySet()
  const keys = keySet.keys.map((key) => ({ ...key, arn: key.arn.replace(':us-east-1:', ':eu-west-1:') }))
  await db.send(new PutCommand({ TableName: tableName(), Item: { ...keySet, keys, ...signingKeySetKey } }))
}

/**
 * Rehearses the procedure for a lost region: the table is copied to a region without the KMS keys that it
 * depends on.
 */
export async function aLostRegion(url: string, people: People): Promise<void> {
  const registration = newRegistration()
  const user: TestUser = await inAnotherRegion(async () => {
    await register(registration)
    return {
      userId: Number(registration['user_id']),
      email: String(registration['email']),
      password: String(registration['login_password']),
      totpSecret: String(registration['totp_secret']),
    }
  })
  await storeForeignKeySet()
  expect(await people.tryToSignIn(await createUser())).toMatchObject({ status: 503, retryAfter: '5' })

  // Replaces the signing keys with the steps of the procedure for a leaked key.
  await replaceKeys(url)
  await people.signIn()
  const procedure = follow('A lost region', url)
  for (const finding of await findings(procedure)) {
    const [name, subject = ''] = finding.split(' ')
    expect(name).toBe('unknown_key')
    await procedure.aws('aws kms disable-key --key-id ARN', { ARN: subject })
  }
  expect(await findings(procedure)).toEqual([])

  // Passwords and authenticator secrets are unusable without the lost keys, so the business server sends new
  // ones.
  expect((await people.sendPassword(user)).status).toBe(401)
  const renewed = { ...user, password: md5('a new password') }
  await putEvents('user.updated', [
    {
      update_id: randomUUID(),
      user_id: user.userId,
      at: Date.now(),
      login_password: renewed.password,
      totp_secret: user.totpSecret,
    },
  ])
  await expect.poll(async () => (await people.sendPassword(renewed)).status, pollOptions).toBe(200)
  await people.signIn(renewed)

  // A repeated registration with a password is rejected: its stored digest was made with the lost MAC key, so
  // it does not match.
  await putEvents('user.registered', [registration])
  const refused = { NAME: 'user.registered', REASON: 'conflicting_content' }
  await expect
    .poll(
      async () => (await procedure.ops('dlq drop NAME --reason REASON --yes', refused)).result,
      pollOptions,
    )
    .toEqual({ dropped: 1 })
}
