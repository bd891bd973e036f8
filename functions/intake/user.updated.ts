import { intake } from '../../shared/events/intake.ts'
import { updateUser, UserUpdated } from '../../shared/sign-in/update-user.ts'

/** Updates fields of a user. Of two updates of one field the later one wins. */
export const handler = intake({
  detailType: 'user.updated',
  detail: UserUpdated,
  key: ({ update_id }) => update_id,
  rejections: ['unknown_user', 'email_taken'],
  apply: updateUser,
})
