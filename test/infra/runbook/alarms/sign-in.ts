import { SendEmailCommand, SESv2Client } from '@aws-sdk/client-sesv2'
import { request } from 'node:http'
import { json } from 'node:stream/consumers'
import { expect } from 'vitest'
import { clientOptions } from '../../../../shared/aws/client-options.ts'
import { putEvents } from '../../../support/put-event.ts'
import { openTicket } from '../../../support/sign-in-calls.ts'
import { anotherCode, authenticatorCode, createUser, md5, type TestUser } from '../../../support/sign-in.ts'
import { pollOptions } from '../follow.ts'
import type { Session } from '../people.ts'
import type { AlarmRehearsal, Room } from './room.ts'

/** Sends a wrong password from a source address of this machine; resolves with the status. */
const guess = ({ url }: Room, { email }: TestUser, localAddress: string): Promise<number> =>
  new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json' }
    request(`${url}/user/login-with-password`, { method: 'POST', headers, localAddress }, (response) => {
      json(response).then(() => resolve(response.statusCode ?? 0), reject)
    })
      .on('error', reject)
      .end(JSON.stringify({ email, login_password: '0'.repeat(32) }))
  })

/** Sends nine wrong passwords from each of so many sources: one fewer than a source may for an account. */
const guessFrom = (room: Room, user: TestUser, network: string, sources: number) =>
  Promise.all(
    Array.from({ length: sources }, async (_, source) => {
      for (let tries = 0; tries < 9; tries += 1) await guess(room, user, `${network}.${source + 1}`)
    }),
  )

const updateUser = (user: TestUser, changes: object) =>
  putEvents('user.updated', [
    { update_id: `${user.userId}-${Date.now()}`, user_id: user.userId, at: Date.now(), ...changes },
  ])

let victim: Session
let guessed: { user: TestUser; ticket: string }[] = []
let lost: TestUser[] = []

/** The alarms on sign-ins and their mails. */
export const signInAlarms: AlarmRehearsal[] = [
  {
    cause: 'an account is guessed from many sources',
    raises: ['guessed-account', 'wrong-passwords'],
    journey: 'sign-in',
    async fault(room) {
      victim = await room.people.signIn()
      await guessFrom(room, victim.user, '127.0.2', 12)
      await guessFrom(room, await createUser(), '127.0.3', 1)
      await room.counted('Failures', 100, { failure: 'bad_credentials' })
      await room.counted('GuessedAccounts', 1)
    },
    async mend({ section, logOf, people }) {
      section('guessed-account')
      section('wrong-passwords')
      const lines = logOf('user-login-with-password')
      const named = lines.find(({ limit, user_id }) => limit === 'account' && user_id === victim.user.userId)
      expect(named?.['source_network']).toMatch(/^127\.0\.2\./)
      const networks = lines
        .filter(({ failure, user_id }) => failure === 'bad_credentials' && user_id === victim.user.userId)
        .map(({ source_network }) => source_network)
      expect(new Set(networks).size).toBeGreaterThan(10)
      await updateUser(victim.user, { login_password: md5('another one') })
      await expect.poll(() => people.read(victim.accessToken), pollOptions).toBe(401)
    },
  },
  {
    cause: 'somebody knows passwords and guesses second factors',
    raises: ['wrong-codes'],
    journey: 'sign-in',
    async fault({ people, counted }) {
      const guessOne = async () => {
        const user = await createUser()
        let left = 19
        let ticket = ''
        while (left > 0) {
          ticket = await openTicket(user)
          for (let tries = 0; tries < 5 && left > 0; tries += 1, left -= 1)
            await people.sendCode(user, ticket, anotherCode(await authenticatorCode(user.totpSecret)))
        }
        return { user, ticket }
      }
      guessed = await Promise.all([guessOne(), guessOne(), guessOne()])
      await counted('Failures', 50, { failure: 'bad_verification_code' })
    },
    async mend({ section, logOf, people }) {
      section('wrong-codes')
      const wrong = logOf('user-login-2fa').filter(({ failure }) => failure === 'bad_verification_code')
      for (const { user, ticket } of guessed) {
        expect(wrong.some(({ user_id }) => user_id === user.userId)).toBe(true)
        await updateUser(user, { login_password: md5('another one') })
        const signIn = async () => {
          const { status } = await people.sendCode(user, ticket, await authenticatorCode(user.totpSecret))
          return status
        }
        await expect.poll(() => people.sendPassword(user).then(({ status }) => status), pollOptions).toBe(401)
        expect(await signIn()).not.toBe(200)
      }
    },
  },
  {
    cause: 'many people send their password at once',
    raises: ['user-login-with-password-concurrency'],
    journey: 'sign-in',
    async fault(room) {
      const user = await createUser()
      await Promise.all(Array.from({ length: 55 }, (_, i) => guess(room, user, `127.0.4.${i + 1}`)))
    },
    async mend({ section, people }) {
      section('function-throttles')
      expect((await people.sendPassword(await createUser())).status).toBe(200)
    },
  },
  {
    cause: 'mails go to addresses that do not exist, and to people who never asked for them',
    raises: ['mail-bounces', 'mail-complaints'],
    journey: 'sign-in',
    async fault({ people, stack }) {
      const register = (email: string) => createUser({ email })
      const names = Array.from({ length: 5 }, (_, i) => `nobody-${i}@example.invalid`)
      lost = await Promise.all([...names, 'complaint+1@simulator.amazonses.com'].map(register))
      for (const user of lost) expect((await people.sendPassword(user)).status).toBe(200)
      for (const { email } of lost)
        await expect.poll(() => stack.aws.outbox(email).length, pollOptions).toBe(1)
    },
    async mend({ section, people }) {
      section('mail-reputation')
      for (const user of lost) {
        await updateUser(user, { disabled: true })
        await expect.poll(() => people.sendPassword(user).then(({ status }) => status), pollOptions).toBe(401)
      }
      // Further mails, which arrive, bring the shares down.
      const ses = new SESv2Client(clientOptions())
      const ToAddresses = Array.from({ length: 50 }, (_, i) => `user-${i}@example.com`)
      const Simple = { Subject: { Data: 'code' }, Body: { Text: { Data: 'code' } } }
      for (let mail = 0; mail < 30; mail += 1)
        await ses.send(
          new SendEmailCommand({
            FromEmailAddress: 'no-reply@example.com',
            Destination: { ToAddresses },
            Content: { Simple },
          }),
        )
      ses.destroy()
    },
    quietMinutes: 62,
  },
]
