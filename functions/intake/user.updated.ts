import * as v from 'valibot'
import { intake } from '../../shared/events/intake.ts'
import { BusinessKey, Instant, maybe, membersOf, UserId } from '../../shared/fields.ts'
import { LoginPassword } from '../../shared/sign-in/password/digest.ts'
import { TotpSecret } from '../../shared/sign-in/code/totp.ts'
import { updateUser } from '../../shared/registration/update.ts'
import { Nickname, UserEmail, type UserFields, userFields } from '../../shared/users/identity.ts'
import { withAsciiDomain } from '../../shared/users/normalize-email.ts'

/**
 * Updates fields of a user; omitted fields keep their values, and one must be there. Of two updates of one
 * field the later one wins. A new password, a new TOTP secret or disabling the user ends all sessions, login
 * tickets and codes.
 */
export const handler = intake({
  detailType: 'user.updated',
  detail: v.pipe(
    membersOf({
      update_id: BusinessKey,
      user_id: UserId,
      at: Instant,
      ...({
        nickname: maybe(Nickname),
        email: maybe(UserEmail),
        login_password: maybe(LoginPassword),
        totp_secret: maybe(TotpSecret),
        passkey: maybe(v.boolean()),
        disabled: maybe(v.boolean()),
      } satisfies Record<keyof UserFields, v.GenericSchema>),
    }),
    v.check(
      (update) => userFields.some((field) => update[field] !== undefined),
      'must name a field to update',
    ),
  ),
  key: ({ update_id }) => update_id,
  content: withAsciiDomain,
  rejections: ['unknown_user', 'email_taken'],
  apply: ({ update_id, user_id, at, ...fields }, record) =>
    updateUser({ updateId: update_id, userId: user_id, at, fields }, record),
})
