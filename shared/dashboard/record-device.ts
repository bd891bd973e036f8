import * as v from 'valibot'
import { Integer, type Key } from '../db/table.ts'
import { ConditionFailed, type Write } from '../db/write.ts'
import { userMustExist } from '../db/user.ts'
import { applyOnce, type EventRecord, type Outcome } from '../events/event-record.ts'
import { BusinessKey, Instant, UserId } from '../events/fields.ts'
import { addDevices } from './earnings-item.ts'
import { readItem } from '../db/read.ts'

/** `detail` of `device.activated` and `device.deactivated`. */
export const DeviceEvent = v.object({ device_id: BusinessKey, at: Instant, user_id: UserId })
export type DeviceEvent = v.InferOutput<typeof DeviceEvent>

/** Business key of both. */
export const deviceEventKey = ({ device_id, at }: DeviceEvent): string => `${device_id}#${at}`

/** What the latest event says of a device: whose it is, and whether it is active. */
interface Device {
  userId: number
  active: boolean
  at: number
}

const DeviceItem = v.object({ user_id: Integer, active: v.boolean(), at: Integer })

const deviceKey = (deviceId: string): Key => ({ pk: `DEVICE#${deviceId}`, sk: 'DEVICE' })

/** Events about one device at the same time that one of them gives way to, before it is left to the queue. */
const attempts = 10

/**
 * Counts a device as active or not, exactly once. The event with the later `at` stands whole, whatever the order of arrival:
 * a device that was activated by somebody else is theirs from then on. Of two at the same instant the deactivation stands.
 */
export async function recordDevice(
  { device_id, at, user_id }: DeviceEvent,
  active: boolean,
  record: EventRecord,
): Promise<Outcome> {
  const said: Device = { userId: user_id, active, at }
  for (let attempt = 1; ; attempt += 1) {
    const known = await readDevice(device_id)
    const writes = stands(said, known) ? [putDevice(device_id, said, known), ...recount(known, said)] : []
    try {
      return await applyOnce(record, [userMustExist(user_id), ...writes])
    } catch (error) {
      if (!(error instanceof ConditionFailed)) throw error
      if (attempt === attempts) throw error
    }
  }
}

const stands = (said: Device, known: Device | undefined): boolean =>
  known === undefined || said.at > known.at || (said.at === known.at && !said.active)

async function readDevice(deviceId: string): Promise<Device | undefined> {
  const item = await readItem(deviceKey(deviceId), { consistent: true })
  if (item === undefined) return undefined
  const { user_id, active, at } = v.parse(DeviceItem, item)
  return { userId: user_id, active, at }
}

function putDevice(deviceId: string, said: Device, known: Device | undefined): Write {
  const names = { '#user': 'user_id', '#active': 'active', '#at': 'at' }
  return {
    Put: {
      Item: { ...deviceKey(deviceId), user_id: said.userId, active: said.active, at: said.at },
      ...(known === undefined
        ? { ConditionExpression: 'attribute_not_exists(pk)' }
        : {
            ConditionExpression: '#user = :user AND #active = :active AND #at = :at',
            ExpressionAttributeNames: names,
            ExpressionAttributeValues: { ':user': known.userId, ':active': known.active, ':at': known.at },
          }),
    },
  }
}

/** The changes of the counts of whoever had the device and whoever has it now. */
function recount(known: Device | undefined, said: Device): Write[] {
  const had = known?.active ? known.userId : undefined
  const has = said.active ? said.userId : undefined
  if (had === has) return []
  return [
    ...(had === undefined ? [] : [addDevices(had, -1)]),
    ...(has === undefined ? [] : [addDevices(has, 1)]),
  ]
}
