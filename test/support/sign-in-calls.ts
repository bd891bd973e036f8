import * as v from 'valibot'
import { handler as loginHandler } from '../../functions/user/login-with-password.ts'
import { handler as verifyHandler } from '../../functions/user/login-2fa.ts'
import { callEndpoint, type TestAnswer } from './call-endpoint.ts'
import { measureCalls } from './measure-calls.ts'
import { newSourceIp, type TestUser } from './sign-in.ts'

/** Sends a password to the login handler, by default from a new source address. */
export const login = (
  { email, password }: Pick<TestUser, 'email' | 'password'>,
  sourceIp: string = newSourceIp(),
): Promise<TestAnswer> => callEndpoint(loginHandler, { body: { email, login_password: password }, sourceIp })

/** Sends the right password to the login handler and resolves with the login ticket. */
export async function openTicket(user: TestUser): Promise<string> {
  const { code, data } = await login(user)
  if (code !== 0) throw new Error(`the sign-in was refused with ${code}`)
  return v.parse(v.object({ login_ticket: v.string() }), data).login_ticket
}

/** Sends the code of an authenticator to the second-factor handler. */
export const verifyAuthenticator = (
  { email }: Pick<TestUser, 'email'>,
  ticket: string,
  code: string,
  sourceIp: string = newSourceIp(),
): Promise<TestAnswer> =>
  callEndpoint(verifyHandler, {
    body: { email, login_ticket: ticket, method: 'AUTHENTICATOR', authenticator_code: code },
    sourceIp,
  })

/** Submits, to the second-factor handler, a code that was received by mail. */
export const verifyMailed = (
  { email }: Pick<TestUser, 'email'>,
  ticket: string,
  code: string,
): Promise<TestAnswer> =>
  callEndpoint(verifyHandler, {
    body: { email, login_ticket: ticket, method: 'EMAIL', validate_code: code },
  })

/** Sends several guesses at the same time. Counts the KMS checks and the answers `wrong` and `blocked`. */
export async function guessAtOnce(count: number, guess: (number: number) => Promise<TestAnswer>) {
  let answers: TestAnswer[] = []
  const { names } = await measureCalls(async () => {
    answers = await Promise.all(Array.from({ length: count }, (_, number) => guess(number)))
  })
  const compared = names.filter((name) => name === 'GenerateMac' || name === 'Decrypt').length
  const answered = (codes: number[]) => answers.filter(({ code }) => codes.includes(code)).length
  return { compared, wrong: answered([40101, 40103]), blocked: answered([42900]) }
}
