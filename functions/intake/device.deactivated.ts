import { DeviceEvent, deviceEventKey, recordDevice } from '../../shared/dashboard/record-device.ts'
import { intake } from '../../shared/events/intake.ts'

/** Counts a device no longer among its user's active ones. */
export const handler = intake({
  detailType: 'device.deactivated',
  detail: DeviceEvent,
  key: deviceEventKey,
  apply: (detail, record) => recordDevice(detail, false, record),
})
