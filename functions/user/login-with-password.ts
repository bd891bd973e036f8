import * as v from 'valibot'
import { publicEndpoint } from '../../shared/http/endpoint.ts'
import { LoginPassword } from '../../shared/sign-in/password/digest.ts'
import { loginWithPassword } from '../../shared/sign-in/password/login-with-password.ts'
import { twoFactorMethods } from '../../shared/sign-in/password/open-ticket.ts'
import { EmailAddress } from '../../shared/users/identity.ts'

/** Checks a password, and issues a login ticket for the second factor. */
export const handler = publicEndpoint({
  accepts: 'json',
  input: v.object({ body: v.object({ email: EmailAddress, login_password: LoginPassword }) }),
  output: v.object({
    need_two_factor: v.literal(true),
    login_ticket: v.string(),
    email: v.string(),
    two_factor_methods: v.array(v.picklist(twoFactorMethods)),
  }),
  run: ({ input: { body }, request }) => loginWithPassword(body.email, body.login_password, request.sourceIp),
})
