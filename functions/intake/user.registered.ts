import type * as v from 'valibot'
import { intake } from '../../shared/events/intake.ts'
import { Instant, maybe, membersOf, UserId } from '../../shared/fields.ts'
import { LoginPassword } from '../../shared/sign-in/password/digest.ts'
import { type RegisteredField, registerUser } from '../../shared/registration/register.ts'
import { TotpSecret } from '../../shared/sign-in/code/totp.ts'
import { Nickname, UserEmail } from '../../shared/users/identity.ts'
import { withAsciiDomain } from '../../shared/users/normalize-email.ts'

/** Adds a user whom the business server has registered. */
export const handler = intake({
  detailType: 'user.registered',
  detail: membersOf({
    user_id: UserId,
    ...({
      email: UserEmail,
      nickname: Nickname,
      login_password: maybe(LoginPassword),
      totp_secret: maybe(TotpSecret),
    } satisfies Record<RegisteredField, v.GenericSchema>),
    referrer_id: maybe(UserId),
    registered_at: Instant,
  }),
  key: ({ user_id }) => String(user_id),
  content: withAsciiDomain,
  rejections: ['user_exists', 'email_taken', 'own_referrer', 'unknown_referrer'],
  apply: ({ user_id, referrer_id, registered_at, ...fields }, record) =>
    registerUser({ userId: user_id, referrerId: referrer_id, registeredAt: registered_at, fields }, record),
})
