import * as v from 'valibot'
import { itemType } from '../db/item-type.ts'
import { readItem } from '../db/read.ts'
import { Integer } from '../db/table.ts'
import { putVersioned, type Write } from '../db/write.ts'
import { countedInstant } from '../events/delivery.ts'
import { applyOnce, type EventRecord } from '../events/event-record.ts'
import type { Result } from '../events/outcome.ts'
import { intake } from '../events/intake.ts'
import { BusinessKey, Instant, membersOf, UserId } from '../fields.ts'
import { requireUser } from '../users/user.ts'
import { addActiveDevices } from './sums.ts'

/** A device as its events make it, in whatever order they arrive. All instants are epoch milliseconds. */
export interface Device {
  /** The latest activation: for whom, and when; undefined before the first. */
  holder?: { userId: number; at: number } | undefined
  /** When a user last deactivated the device, for each who did so since the latest activation. */
  ended: ReadonlyMap<number, number>
}

/** An activation (`active`) or deactivation of a device by a user. */
export interface DeviceEvent {
  userId: number
  active: boolean
  at: number
}

/** A device before its first event. */
export const newDevice: Device = { ended: new Map() }

/** The user for whom a device is active. At the same instant, a deactivation decides over an activation. */
export const activeUser = ({ holder, ended }: Device): number | undefined =>
  holder === undefined || (ended.get(holder.userId) ?? 0) >= holder.at ? undefined : holder.userId

/**
 * Maximum number of deactivations that a device remembers. Only users who do not have the device add to them.
 */
const maxEnded = 20

/**
 * Adds an event to a device; undefined if a later one stands. A device belongs to the user who activated it
 * last, and only that user's deactivations count. Others are remembered, because a later activation of their
 * user may still be on its way. So the order of arrival does not matter.
 */
export function addDeviceEvent({ holder, ended }: Device, event: DeviceEvent): Device | undefined {
  const { userId, active, at } = event
  const since = holder?.at ?? 0
  if (active) {
    const isLater = at > since || (at === since && userId > (holder?.userId ?? 0))
    return isLater ? { holder: { userId, at }, ended: newestOf(ended, at) } : undefined
  }
  const isLater = at >= since && at > (ended.get(userId) ?? 0)
  return isLater ? { holder, ended: newestOf(new Map(ended).set(userId, at), since) } : undefined
}

/** Selects deactivations from an instant on, the newest ones. */
const newestOf = (ended: Device['ended'], since: number): Device['ended'] =>
  new Map(
    [...ended]
      .filter(([, at]) => at >= since)
      .sort(([, a], [, b]) => b - a)
      .slice(0, maxEnded),
  )

const StoredDevice = v.object({
  holder: v.optional(v.object({ userId: Integer, at: Integer })),
  ended: v.pipe(
    v.record(v.string(), Integer),
    v.transform((ended) => new Map(Object.entries(ended).map(([userId, at]) => [Number(userId), at]))),
  ),
  version: Integer,
})
type StoredDevice = v.InferOutput<typeof StoredDevice>

const devices = itemType({
  pk: 'DEVICE#{deviceId}',
  sk: 'DEVICE',
  holds: 'the latest activation of a device, and who deactivated it since',
  found: 'by device',
})

/** Creates the function that records a device's event and updates the count of the user's active devices. */
export const deviceIntake = (detailType: 'device.activated' | 'device.deactivated') =>
  intake({
    detailType,
    detail: membersOf({ device_id: BusinessKey, at: Instant, user_id: UserId }),
    key: ({ device_id, at }) => `${device_id}#${at}`,
    rejections: ['unknown_user'],
    apply: ({ device_id, at, user_id: userId }, record) => {
      const active = detailType === 'device.activated'
      return recordDevice(device_id, { userId, active, at: countedInstant(at, record.delivery) }, record)
    },
  })

/** Adds an event to a stored device, and counts the device exactly once for the user who has it. */
async function recordDevice(deviceId: string, event: DeviceEvent, record: EventRecord): Promise<Result> {
  const stored = await readDevice(deviceId)
  const before = stored ?? newDevice
  const after = addDeviceEvent(before, event)
  // A deactivation of a device that another user has activated since changes nothing that anybody sees.
  const isOvertaken = after === undefined || (after.holder?.userId ?? event.userId) !== event.userId
  return applyOnce(isOvertaken ? { ...record, effect: 'overtaken' } : record, [
    requireUser(event.userId),
    ...(after === undefined
      ? []
      : [putDevice(deviceId, after, stored?.version ?? 0), ...changeCounts(before, after)]),
  ])
}

async function readDevice(deviceId: string): Promise<StoredDevice | undefined> {
  const item = await readItem(devices.key({ deviceId }), { consistent: true })
  return item && v.parse(StoredDevice, item)
}

/** The write of a device; its condition fails if the device has been written since it was read. */
const putDevice = (deviceId: string, { holder, ended }: Device, version: number): Write => {
  const item = { ...devices.key({ deviceId }), holder, ended: Object.fromEntries(ended) }
  return putVersioned({ ...item, version: version + 1 }, version)
}

function changeCounts(before: Device, after: Device): Write[] {
  const [userBefore, userAfter] = [activeUser(before), activeUser(after)]
  if (userBefore === userAfter) return []
  return [
    ...(userBefore === undefined ? [] : [addActiveDevices(userBefore, -1)]),
    ...(userAfter === undefined ? [] : [addActiveDevices(userAfter, 1)]),
  ]
}
