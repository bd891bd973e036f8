import * as v from 'valibot'
import { itemType } from '../db/item-type.ts'
import { readItem } from '../db/read.ts'
import { Integer } from '../db/table.ts'
import { putVersioned, type Write } from '../db/write.ts'
import { applyOnce, type EventRecord, type Outcome } from '../events/event-record.ts'
import { intake } from '../events/intake.ts'
import { BusinessKey, Instant, membersOf, UserId } from '../fields.ts'
import { requireUser } from '../users/user.ts'
import { addActiveDevices } from './sums.ts'

/** A device according to its latest event: the user it belongs to, and whether it is active. */
const Device = v.object({
  userId: Integer,
  active: v.boolean(),
  /** Instant of the device's latest event, epoch milliseconds. */
  at: Integer,
})
type Device = v.InferOutput<typeof Device>

const StoredDevice = v.object({ ...Device.entries, version: Integer })
type StoredDevice = v.InferOutput<typeof StoredDevice>

const devices = itemType({
  pk: 'DEVICE#{deviceId}',
  sk: 'DEVICE',
  holds: 'the latest event about a device: its user, and whether it is active',
  found: 'by device',
})

/** Creates the function that records a device's event and updates the count of the user's active devices. */
export const deviceIntake = (detailType: 'device.activated' | 'device.deactivated') =>
  intake({
    detailType,
    detail: membersOf({ device_id: BusinessKey, at: Instant, user_id: UserId }),
    key: ({ device_id, at }) => `${device_id}#${at}`,
    rejections: ['unknown_user'],
    apply: ({ device_id, at, user_id }, record) =>
      recordDevice(device_id, { userId: user_id, active: detailType === 'device.activated', at }, record),
  })

/**
 * Marks a device as active or inactive, and counts it exactly once. The event with the latest `at` decides,
 * in whatever order events arrive; at the same instant, the deactivation decides. A device that another user
 * activates belongs to that user from then on.
 */
async function recordDevice(deviceId: string, device: Device, record: EventRecord): Promise<Outcome> {
  const stored = await readDevice(deviceId)
  if (!isLater(device, stored)) return applyOnce(record, [requireUser(device.userId)])
  return applyOnce(record, [
    requireUser(device.userId),
    putDevice(deviceId, device, stored),
    ...changeCounts(stored, device),
  ])
}

const isLater = (device: Device, stored: Device | undefined): boolean =>
  stored === undefined || device.at > stored.at || (device.at === stored.at && !device.active)

async function readDevice(deviceId: string): Promise<StoredDevice | undefined> {
  const item = await readItem(devices.key({ deviceId }), { consistent: true })
  return item && v.parse(StoredDevice, item)
}

/** The write of a device; its condition fails if the device has been written since it was read. */
function putDevice(deviceId: string, device: Device, { version = 0 }: Partial<StoredDevice> = {}): Write {
  return putVersioned({ ...devices.key({ deviceId }), ...device, version: version + 1 }, version)
}

function changeCounts(before: Device | undefined, after: Device): Write[] {
  const userBefore = before?.active ? before.userId : undefined
  const userAfter = after.active ? after.userId : undefined
  if (userBefore === userAfter) return []
  return [
    ...(userBefore === undefined ? [] : [addActiveDevices(userBefore, -1)]),
    ...(userAfter === undefined ? [] : [addActiveDevices(userAfter, 1)]),
  ]
}
