import * as v from 'valibot'
import { NotesTooShort, notesKeptMilliseconds } from '../db/exact-sum.ts'
import { itemType } from '../db/item-type.ts'
import { readItem, readItems } from '../db/read.ts'
import { Integer, type Item } from '../db/table.ts'
import { ConditionFailed, putNew, type Write } from '../db/write.ts'
import { applyOnce, type EventRecord, type Outcome } from '../events/event-record.ts'
import type { Big } from '../money.ts'
import { rateOf, readRates } from '../rates/rates.ts'
import { retry } from '../retry.ts'
import { settings } from '../settings.ts'
import { requireUser } from '../users/user.ts'
import { addActiveDevices, addRewardToDay, addRewardToTotals, addTraffic, dayKey, totalsKey } from './sums.ts'

/** The data of a reward that the dashboard counts. */
export interface Reward {
  userId: number
  rewardType: string
  currency: string
  amount: Big
  /** The day on which the reward was earned, yyyy-MM-dd. */
  earnedOn: string
}

/**
 * The writes that count a reward in the dashboard, for the transaction that credits it at an instant. They
 * add to running sums, so that no page of the dashboard has to read the rewards one by one.
 */
export async function recordReward({
  userId,
  earnedOn,
  ...reward
}: Reward): Promise<(at: number) => Write[]> {
  const [converted, [totals, day]] = await Promise.all([
    convertReward(reward.currency, reward.amount),
    readItems([totalsKey(userId), dayKey(userId, earnedOn)]),
  ])
  return (at) => [
    addRewardToTotals(userId, { ...reward, converted }, { at, stored: totals }),
    addRewardToDay(userId, earnedOn, reward, { at, stored: day }),
  ]
}

/**
 * Converts an amount to the reward currency at the latest rates; undefined when either currency has no rate.
 * The result is exact when the reward currency is the quote currency, and otherwise a quotient of 20 decimal
 * places.
 */
async function convertReward(currency: string, amount: Big): Promise<Big | undefined> {
  const { rewardCurrency, quoteCurrency } = settings()
  if (currency === rewardCurrency) return amount
  const rates = await readRates()
  const from = rateOf(rates, currency)
  const to = rateOf(rates, rewardCurrency)
  if (from === undefined || to === undefined) return undefined
  const worth = amount.times(from)
  return rewardCurrency === quoteCurrency ? worth : worth.div(to)
}

/** Adds bytes to a user's traffic, exactly once per event. */
export async function recordTraffic(userId: number, bytes: Big, record: EventRecord): Promise<Outcome> {
  const stored = await readItem(totalsKey(userId))
  return applyOnce(record, (at) => [requireUser(userId), addTraffic(userId, bytes, { at, stored })])
}

/** A device according to its latest event: the user it belongs to, and whether it is active. */
export interface Device {
  userId: number
  active: boolean
  /** Instant of the device's latest event, epoch milliseconds. */
  at: number
}

const State = {
  user_id: Integer,
  active: v.boolean(),
  at: Integer,
  /** Instant at which this state was stored, epoch milliseconds. */
  changed_at: v.optional(Integer),
}
const DeviceItem = v.object({
  ...State,
  /** The states before the present one, newest first: those of the last minutes, and one older. */
  before: v.optional(v.array(v.object(State)), []),
})

/** A device as stored, with its earlier states. */
interface StoredDevice extends Device {
  states: v.InferOutput<typeof DeviceItem>['before']
}

const devices = itemType({
  pk: 'DEVICE#{deviceId}',
  sk: 'DEVICE',
  holds: 'the latest event about a device: its user, and whether it is active',
  found: 'by device',
})

/**
 * Counts a device as active or inactive, exactly once. The event with the latest `at` decides, whatever the
 * order of arrival: a device that another user activates belongs to that user from then on. Of two events at
 * the same instant, the deactivation decides.
 */
export function recordDevice(deviceId: string, device: Device, record: EventRecord): Promise<Outcome> {
  return retry(
    async () => {
      const stored = await readDevice(deviceId)
      if (!isLater(device, stored)) return applyOnce(record, [requireUser(device.userId)])
      const changes = await changeCounts(stored, device)
      return applyOnce(record, (at) => [
        requireUser(device.userId),
        putDevice(deviceId, device, stored, at),
        ...changes(at),
      ])
    },
    // Another event about the device was written first: read the device again and decide again.
    (error) => error instanceof ConditionFailed,
  )
}

const isLater = (device: Device, stored: Device | undefined): boolean =>
  stored === undefined || device.at > stored.at || (device.at === stored.at && !device.active)

async function readDevice(deviceId: string): Promise<StoredDevice | undefined> {
  const item = await readItem(devices.key({ deviceId }), { consistent: true })
  if (item === undefined) return undefined
  const { before, ...state } = v.parse(DeviceItem, item)
  return { userId: state.user_id, active: state.active, at: state.at, states: [state, ...before] }
}

/** Maximum number of earlier states that a device keeps. */
const maxStates = 20

/** The write of a device; its condition fails if the stored device has changed since it was read. */
function putDevice(
  deviceId: string,
  { userId, active, at }: Device,
  stored: StoredDevice | undefined,
  changedAt: number,
): Write {
  const item = { ...devices.key({ deviceId }), user_id: userId, active, at, changed_at: changedAt }
  if (stored === undefined) return putNew(item)
  const { states } = stored
  const oldest = states.findIndex(({ changed_at = 0 }) => changed_at < changedAt - notesKeptMilliseconds)
  const before = states.slice(0, oldest === -1 ? maxStates : Math.min(oldest + 1, maxStates))
  return {
    Put: {
      Item: { ...item, before },
      ConditionExpression: '#user = :user AND #active = :active AND #at = :at',
      ExpressionAttributeNames: { '#user': 'user_id', '#active': 'active', '#at': 'at' },
      ExpressionAttributeValues: { ':user': stored.userId, ':active': stored.active, ':at': stored.at },
    },
  }
}

/**
 * The item of a device as it was before an instant; undefined if it was unknown then. Throws NotesTooShort if
 * the item does not keep that state any more.
 */
export function undoDevice(item: Item, since: number): Item | undefined {
  const { before, ...state } = v.parse(DeviceItem, item)
  const states = [state, ...before]
  const found = states.findIndex(({ changed_at = 0 }) => changed_at < since)
  if (found === 0) return item
  if (found === -1 && states.length > maxStates) throw new NotesTooShort('the device has changed too often')
  return found === -1
    ? undefined
    : { pk: item['pk'], sk: item['sk'], ...states[found], before: states.slice(found + 1) }
}

/** The instants at which the states of a device that it keeps were stored, epoch milliseconds. */
export function deviceInstants(item: Item): number[] {
  const { before, ...state } = v.parse(DeviceItem, item)
  return [state, ...before].map(({ changed_at = 0 }) => changed_at)
}

/** The writes that move an active device from its previous to its present user's count, if they differ. */
async function changeCounts(before: Device | undefined, after: Device): Promise<(at: number) => Write[]> {
  const userBefore = before?.active ? before.userId : undefined
  const userAfter = after.active ? after.userId : undefined
  if (userBefore === userAfter) return () => []
  const changes = [
    ...(userBefore === undefined ? [] : [{ userId: userBefore, change: -1 }]),
    ...(userAfter === undefined ? [] : [{ userId: userAfter, change: 1 }]),
  ]
  const stored = await readItems(changes.map(({ userId }) => totalsKey(userId)))
  return (at) =>
    changes.map(({ userId, change }, i) => addActiveDevices(userId, change, { at, stored: stored[i] }))
}
