import { deviceIntake } from '../../shared/dashboard/devices.ts'

/** Counts a device as active for its user. */
export const handler = deviceIntake('device.activated')
