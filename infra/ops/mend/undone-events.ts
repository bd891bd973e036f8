import type { Item } from '../../../shared/db/table.ts'

/**
 * The events that a mend takes back: those that move money or count something. A deposit has no event
 * record: its status makes it count once.
 */
const detailTypes = [
  'wallet.adjusted',
  'wallet.transferred',
  'reward.granted',
  'withdrawal.updated',
  'package.purchased',
  'device.activated',
  'device.deactivated',
  'traffic.reported',
]

/** Whether an event record is of an event that a mend takes back. */
export const isUndone = ({ pk }: Item): boolean =>
  detailTypes.some((detailType) => String(pk).startsWith(`EVT#${detailType}#`))
