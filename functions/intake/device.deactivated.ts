import { DeviceEvent, deviceEventKey, recordDevice } from '../../shared/dashboard/record-events.ts'
import { intake } from '../../shared/events/intake.ts'

/** Counts a device as no longer active. */
export const handler = intake({
  detailType: 'device.deactivated',
  detail: DeviceEvent,
  key: deviceEventKey,
  rejections: ['unknown_user'],
  apply: (detail, record) => recordDevice(detail, false, record),
})
