import * as v from 'valibot'
import { recordDevice } from '../../shared/dashboard/devices.ts'
import { intake } from '../../shared/events/intake.ts'
import { BusinessKey, Instant, UserId } from '../../shared/fields.ts'

/** Counts a device as active for its user. */
export const handler = intake({
  detailType: 'device.activated',
  detail: v.object({ device_id: BusinessKey, at: Instant, user_id: UserId }),
  key: ({ device_id, at }) => `${device_id}#${at}`,
  rejections: ['unknown_user'],
  apply: ({ device_id, at, user_id }, record) =>
    recordDevice(device_id, { userId: user_id, active: true, at }, record),
})
