import type { Item } from '../../../shared/db/table.ts'

const isOf = (detailTypes: readonly string[], { pk }: Item): boolean =>
  detailTypes.some((detailType) => String(pk).startsWith(`EVT#${detailType}#`))

/**
 * The events that a mend leaves: a registration that is whole stays, and a mail is not sent twice. All others
 * apply again without harm, also where a part of their effect is there. A deposit has no event record: its
 * status makes it count once.
 */
const keptTypes = ['user.registered', 'mail.requested']

/** Whether an event record is of an event that a mend lets apply again. */
export const isUndone = (record: Item): boolean => !isOf(keptTypes, record)

/**
 * The events that move money or count something. Every item that one of them has written keeps the instant,
 * so their number can be compared with that in the event's record.
 */
const countedTypes = [
  'wallet.adjusted',
  'wallet.transferred',
  'reward.granted',
  'withdrawal.updated',
  'package.purchased',
  'device.activated',
  'device.deactivated',
  'traffic.reported',
]

/** Whether an event record is of an event whose items are counted. */
export const isCounted = (record: Item): boolean => isOf(countedTypes, record)
