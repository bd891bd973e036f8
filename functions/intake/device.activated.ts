import { DeviceEvent, deviceEventKey, recordDevice } from '../../shared/dashboard/record-events.ts'
import { intake } from '../../shared/events/intake.ts'

/** Counts a device as active. */
export const handler = intake({
  detailType: 'device.activated',
  detail: DeviceEvent,
  key: deviceEventKey,
  rejections: ['unknown_user'],
  apply: (detail, record) => recordDevice(detail, true, record),
})
