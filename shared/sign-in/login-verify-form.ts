import * as v from 'valibot'
import type { SecondFactor } from './verify-second-factor.ts'
import { EmailAddress } from '../users/identity.ts'
import { SixDigits } from './mailed-code.ts'

const common = {
  email: EmailAddress,
  login_ticket: v.pipe(v.string(), v.minLength(1, 'must not be empty'), v.maxLength(128, 'is too long')),
}

/** A second factor: the method decides which of the two codes is required; the other one is not looked at. */
export const LoginVerifyForm = v.pipe(
  v.variant('method', [
    v.object({ ...common, method: v.literal('EMAIL'), validate_code: SixDigits }),
    v.object({ ...common, method: v.literal('AUTHENTICATOR'), authenticator_code: SixDigits }),
  ]),
  v.transform((form) => ({
    email: form.email,
    login_ticket: form.login_ticket,
    factor: {
      method: form.method,
      code: form.method === 'EMAIL' ? form.validate_code : form.authenticator_code,
    } satisfies SecondFactor,
  })),
)
