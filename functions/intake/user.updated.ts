import { intake } from '../../shared/events/intake.ts'
import { updateUser, UserUpdated } from '../../shared/sign-in/update-user.ts'

/** Changes what the business server says of a user; of two updates of one field the later stands. */
export const handler = intake({
  detailType: 'user.updated',
  detail: UserUpdated,
  key: ({ update_id }) => update_id,
  rejections: ['unknown_user', 'email_taken'],
  apply: updateUser,
})
