import { intake } from '../../shared/events/intake.ts'
import { registerUser, UserRegistered } from '../../shared/sign-in/register-user.ts'

/** Adds a user that the business server has registered. */
export const handler = intake({
  detailType: 'user.registered',
  detail: UserRegistered,
  key: ({ user_id }) => String(user_id),
  rejections: ['user_exists', 'email_taken', 'own_referrer', 'unknown_referrer'],
  apply: registerUser,
})
