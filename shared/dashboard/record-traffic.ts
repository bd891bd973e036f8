import * as v from 'valibot'
import { userMustExist } from '../db/user.ts'
import { applyOnce, type EventRecord, type Outcome } from '../events/event-record.ts'
import { BusinessKey, Instant, UserId } from '../events/fields.ts'
import { Big } from '../money.ts'
import { addTraffic } from './earnings-item.ts'

/** A number of bytes, as a number or, for any size, as its decimal text. */
const Bytes = v.pipe(
  v.union([
    v.pipe(v.number(), v.safeInteger(), v.minValue(0), v.transform(String)),
    v.pipe(v.string(), v.regex(/^\d{1,18}$/, 'must be a whole number')),
  ]),
  v.transform((digits) => new Big(digits)),
)

/** `detail` of `traffic.reported`. */
export const TrafficReport = v.object({
  report_id: BusinessKey,
  user_id: UserId,
  device_id: BusinessKey,
  bytes: Bytes,
  at: Instant,
})
export type TrafficReport = v.InferOutput<typeof TrafficReport>

/** Adds a report to a user's traffic, exactly once. */
export async function recordTraffic(
  { user_id, bytes }: TrafficReport,
  record: EventRecord,
): Promise<Outcome> {
  return applyOnce(record, [userMustExist(user_id), addTraffic(user_id, bytes)])
}
