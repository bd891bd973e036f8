import { createGuardrails, generate } from 'otplib'
import { ApiFailure } from '../../../authorization-page/api.ts'
import { explain } from '../../../authorization-page/messages.ts'
import { type Account, checkPassword, sendSecondFactor } from '../../../authorization-page/sign-in-api.ts'
import { demoPassword, type DemoUser } from '../../demo/demo-users.ts'

const pollMilliseconds = 250
const maxPolls = 80

/** The user who signed in last in this browser tab; undefined if nobody has. */
export const signedInAccount = () => readAccount(sessionStorage.getItem('email') ?? '')

const readAccount = (email: string) =>
  (JSON.parse(localStorage.getItem(email) ?? 'null') as Account | null) ?? undefined

/** Whether the service still accepts an account's access_token: it may have expired or been revoked. */
export const isAccepted = async ({ accessToken }: Account): Promise<boolean> =>
  (await fetch('/oauth2/userinfo', { headers: { authorization: `Bearer ${accessToken}` } })).ok

/**
 * Signs in a demo user through the endpoints that every client uses. The second factor is a code from the
 * user's authenticator or, without one, from a mail in the outbox. Reuses an earlier access_token while it is
 * valid, because a user gets at most five mailed codes an hour. Throws an Error that the console shows.
 */
export async function signIn({ email, totp_secret: secret }: DemoUser): Promise<string> {
  try {
    const kept = readAccount(email)
    if (kept === undefined || !(await isAccepted(kept))) {
      const startedAt = Date.now()
      const ticket = await checkPassword(email, demoPassword)
      const method = secret === undefined ? 'EMAIL' : 'AUTHENTICATOR'
      const code =
        secret === undefined
          ? await mailedCode(email, startedAt)
          : await generate({ secret, guardrails: createGuardrails({ MIN_SECRET_BYTES: 10 }) })
      localStorage.setItem(email, JSON.stringify(await sendSecondFactor(email, ticket, method, code)))
    }
    sessionStorage.setItem('email', email)
    return ''
  } catch (error) {
    throw error instanceof ApiFailure ? new Error(explain(error), { cause: error }) : error
  }
}

/** Waits until the outbox has a mail to this address that was sent at `since` or later; returns its code. */
async function mailedCode(email: string, since: number): Promise<string> {
  for (let polls = 0; polls < maxPolls; polls += 1) {
    const response = await fetch(`/_local/outbox?${new URLSearchParams({ to: email }).toString()}`)
    const { messages } = (await response.json()) as { messages: { text: string; sent_at: number }[] }
    const mail = messages.find(({ sent_at: sentAt }) => sentAt >= since)
    if (mail !== undefined) return /\b\d{6}\b/.exec(mail.text)?.[0] ?? ''
    await new Promise((resolve) => setTimeout(resolve, pollMilliseconds))
  }
  throw new Error('The mail with the code did not arrive.')
}
