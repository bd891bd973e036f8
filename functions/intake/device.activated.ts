import { DeviceEvent, deviceEventKey, recordDevice } from '../../shared/dashboard/record-device.ts'
import { intake } from '../../shared/events/intake.ts'

/** Counts a device among its user's active ones. */
export const handler = intake({
  detailType: 'device.activated',
  detail: DeviceEvent,
  key: deviceEventKey,
  apply: (detail, record) => recordDevice(detail, true, record),
})
