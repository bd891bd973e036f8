import * as v from 'valibot'
import { intake } from '../../shared/events/intake.ts'
import { Instant, maybe, UserId } from '../../shared/fields.ts'
import { LoginPassword } from '../../shared/sign-in/password.ts'
import { registerUser } from '../../shared/sign-in/register-user.ts'
import { TotpSecret } from '../../shared/sign-in/totp.ts'
import { Nickname, UserEmail } from '../../shared/users/identity.ts'

/** Adds a user whom the business server has registered. */
export const handler = intake({
  detailType: 'user.registered',
  detail: v.object({
    user_id: UserId,
    email: UserEmail,
    nickname: Nickname,
    login_password: maybe(LoginPassword),
    totp_secret: maybe(TotpSecret),
    referrer_id: maybe(UserId),
    registered_at: Instant,
  }),
  key: ({ user_id }) => String(user_id),
  rejections: ['user_exists', 'email_taken', 'own_referrer', 'unknown_referrer'],
  apply: ({ user_id, email, nickname, login_password, totp_secret, referrer_id, registered_at }, record) =>
    registerUser(
      {
        userId: user_id,
        email,
        nickname,
        loginPassword: login_password,
        totpSecret: totp_secret,
        referrerId: referrer_id,
        registeredAt: registered_at,
      },
      record,
    ),
})
