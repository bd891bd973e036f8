import { deviceIntake } from '../../shared/dashboard/devices.ts'

/** Marks a device of a user as inactive. */
export const handler = deviceIntake('device.deactivated')
