import Big from 'big.js'
import { acceptedOf, possibleValues, type SimulationRecord } from './record.ts'
import type { Span } from './world.ts'

const zero = new Big('0')

/** Sums the amounts of items with the same name. */
export function sumBy<T extends { amount: Big }>(items: readonly T[], nameOf: (item: T) => string) {
  const sums = new Map<string, Big>()
  for (const item of items) sums.set(nameOf(item), (sums.get(nameOf(item)) ?? zero).plus(item.amount))
  return new Map([...sums].sort(([a], [b]) => (a < b ? -1 : 1)))
}

/** A user's rewards, one per event. */
export const rewardsOf = (record: SimulationRecord, userId: number) =>
  acceptedOf(record, 'reward.granted')
    .filter(({ detail }) => detail.user_id === userId)
    .map(({ detail, span }) => ({ ...detail, amount: new Big(detail.amount), span }))

/** The latest rates, keyed by currency, and their timestamp; undefined before the first publication. */
export function ratesOf(
  record: SimulationRecord,
): { asOf: number; rates: Record<string, string> } | undefined {
  const [latest] = acceptedOf(record, 'rates.published').sort((a, b) => b.detail.as_of - a.detail.as_of)
  return latest && { asOf: latest.detail.as_of, rates: latest.detail.rates }
}

/** The smallest and the largest possible sum of a user's rewards, converted to the reward currency. */
export function networkRewardsOf(record: SimulationRecord, userId: number): { least: Big; greatest: Big } {
  const bounds = { least: zero, greatest: zero }
  for (const { currency, amount, span } of rewardsOf(record, userId)) {
    const values = possibleRates(record, currency, span).map((rate) => amount.times(rate))
    bounds.least = bounds.least.plus(values.reduce((a, b) => (a.lt(b) ? a : b)))
    bounds.greatest = bounds.greatest.plus(values.reduce((a, b) => (a.gt(b) ? a : b)))
  }
  return bounds
}

/** The rates that may have applied to an event. Zero stands for no published rate. */
function possibleRates(record: SimulationRecord, currency: string, during: Span): Big[] {
  if (currency === 'USDT') return [new Big('1')]
  const published = acceptedOf(record, 'rates.published').map(({ detail, span }) => ({
    at: detail.as_of,
    value: detail.rates[currency] ?? '0',
    span,
  }))
  const beginning = { at: 0, step: 0 }
  const none = { at: -1, value: '0', span: { from: beginning, to: beginning } }
  return possibleValues([none, ...published], during).map((rate) => new Big(rate))
}

/**
 * The number of a user's active devices. A device belongs to the user who activated it last, and is active
 * unless that user has deactivated it since.
 */
export function devicesOf(record: SimulationRecord, userId: number): number {
  const ended = acceptedOf(record, 'device.deactivated')
  const activated = acceptedOf(record, 'device.activated')
  const devices = Map.groupBy(activated, ({ detail }) => detail.device_id)
  return [...devices].filter(([id, events]) => {
    const last = events.map(({ detail }) => detail).reduce((one, other) => (one.at > other.at ? one : other))
    const isEnded = ended.some(
      ({ detail: { device_id, user_id, at } }) =>
        device_id === id && user_id === last.user_id && at >= last.at,
    )
    return last.user_id === userId && !isEnded
  }).length
}

/** A user's traffic in bytes. */
export const trafficOf = (record: SimulationRecord, userId: number): Big =>
  acceptedOf(record, 'traffic.reported')
    .filter(({ detail }) => detail.user_id === userId)
    .reduce((sum, { detail }) => sum.plus(String(detail.bytes)), zero)
