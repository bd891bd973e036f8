import { generate, generateSecret } from 'otplib'
import { createHash, randomInt } from 'node:crypto'
import { inject } from 'vitest'
import { poll } from './poll.ts'
import { hasItem, putEvent } from './stack-clients.ts'

/** A registered user with the secrets to sign in. */
export interface User {
  userId: number
  email: string
  password: string
  totpSecret: string | undefined
}

/** Registers a new user and waits until the registration has taken effect. */
export async function newUser(options: { authenticator?: boolean } = {}): Promise<User> {
  const userId = randomInt(1_000_000, 2 ** 40)
  const user = {
    userId,
    email: `user-${userId}@example.com`,
    password: `pässwörd ${userId}`,
    totpSecret: options.authenticator ? generateSecret() : undefined,
  }
  await putEvent('user.registered', {
    user_id: userId,
    email: user.email,
    nickname: `User ${userId}`,
    login_password: createHash('md5').update(user.password).digest('hex'),
    ...(user.totpSecret === undefined ? {} : { totp_secret: user.totpSecret }),
    registered_at: Date.now(),
  })
  await poll('the registration', async () => (await hasItem('USER#', user.email)) || undefined)
  return user
}

/** Computes the current code of the user's authenticator. */
export async function authenticatorCode(user: User): Promise<string> {
  if (user.totpSecret === undefined) throw new Error('this user has no authenticator')
  return generate({ secret: user.totpSecret })
}

/** Waits until the user has received `mails` mails, and returns the code in the newest one. */
export async function mailedCode({ email }: Pick<User, 'email'>, mails = 1): Promise<string> {
  const text = await poll('the mail', async () => {
    const response = await fetch(`${inject('stack').baseUrl}/_local/outbox?to=${encodeURIComponent(email)}`)
    const { messages } = (await response.json()) as { messages: { text: string }[] }
    return messages.length >= mails ? messages[0]?.text : undefined
  })
  const code = /\b\d{6}\b/.exec(text)?.[0]
  if (code === undefined) throw new Error('the mail holds no code')
  return code
}
