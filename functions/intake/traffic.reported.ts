import * as v from 'valibot'
import { addTraffic } from '../../shared/dashboard/sums.ts'
import { applyOnce } from '../../shared/events/event-record.ts'
import { intake } from '../../shared/events/intake.ts'
import { BusinessKey, Instant, membersOf, UserId } from '../../shared/fields.ts'
import { Big } from '../../shared/money.ts'
import { requireUser } from '../../shared/users/user.ts'

/** Schema of a number of bytes: a number, or a decimal text of up to 18 digits. */
const Bytes = v.pipe(
  v.union([
    v.pipe(v.number(), v.safeInteger(), v.minValue(0), v.transform(String)),
    v.pipe(v.string(), v.regex(/^\d{1,18}$/, 'must be a whole number')),
  ]),
  v.transform((digits) => new Big(digits)),
)

/** Adds the reported bytes to a user's traffic. */
export const handler = intake({
  detailType: 'traffic.reported',
  detail: membersOf({
    report_id: BusinessKey,
    user_id: UserId,
    device_id: BusinessKey,
    bytes: Bytes,
    at: Instant,
  }),
  key: ({ report_id }) => report_id,
  rejections: ['unknown_user'],
  apply: ({ user_id, bytes }, record) =>
    applyOnce(record, [requireUser(user_id), addTraffic(user_id, bytes)]),
})
