import * as v from 'valibot'
import { operation, type Operation } from '../wire/operation.ts'
import { openKey, requireNotPendingDeletion } from './key-access.ts'
import type { KeyRing } from './key-ring.ts'
import { Page, paginate } from './pagination.ts'

/** Tags as KMS writes them. */
export const TagList = v.array(
  v.object({
    TagKey: v.pipe(v.string(), v.minLength(1), v.maxLength(128)),
    TagValue: v.pipe(v.string(), v.maxLength(256)),
  }),
)

/** The tags as a record. */
export function readTags(tags: v.InferOutput<typeof TagList>): Record<string, string> {
  return Object.fromEntries(tags.map(({ TagKey, TagValue }) => [TagKey, TagValue]))
}

const KeyId = v.string()

/** Tags on keys. */
export function tagOperations(ring: KeyRing): Record<string, Operation> {
  return {
    UntagResource: operation(v.object({ KeyId, TagKeys: v.array(v.string()) }), (input, call) => {
      const key = openKey(ring, call, 'UntagResource', input.KeyId, { 'aws:TagKeys': input.TagKeys })
      requireNotPendingDeletion(key)
      const kept = Object.entries(key.record.tags).filter(([name]) => !input.TagKeys.includes(name))
      ring.save({ ...key.record, tags: Object.fromEntries(kept) })
    }),

    ListResourceTags: operation(v.object({ KeyId, ...Page.entries }), (input, call) => {
      const key = openKey(ring, call, 'ListResourceTags', input.KeyId)
      const tags = Object.entries(key.record.tags).map(([TagKey, TagValue]) => ({ TagKey, TagValue }))
      return paginate('Tags', tags, input)
    }),
  }
}
