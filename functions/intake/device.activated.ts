import { deviceIntake } from '../../shared/dashboard/devices.ts'

/** Marks a device of a user as active. */
export const handler = deviceIntake('device.activated')
