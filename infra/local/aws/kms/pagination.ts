import * as v from 'valibot'
import { AwsError } from '../wire/aws-error.ts'

/** The members by which KMS pages its lists. */
export const Page = v.object({
  Limit: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(1000)), 100),
  Marker: v.optional(v.string()),
})

/** One page of a list; the marker is the position where the next one begins. */
export function paginate(
  member: string,
  items: unknown[],
  page: v.InferOutput<typeof Page>,
): Record<string, unknown> {
  const start = Number(page.Marker ?? 0)
  if (!Number.isSafeInteger(start) || start < 0)
    throw new AwsError('InvalidMarkerException', 'The marker is not valid.')
  const end = start + page.Limit
  const truncated = end < items.length
  return {
    [member]: items.slice(start, end),
    Truncated: truncated,
    ...(truncated ? { NextMarker: String(end) } : {}),
  }
}
