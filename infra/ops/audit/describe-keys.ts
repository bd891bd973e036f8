import type { KeyState } from '../../../shared/keys/key-set.ts'
import type { Facts } from './facts.ts'

/** A key in a report; instants are epoch milliseconds. */
export interface ReportKey {
  kid: string
  arn: string
  state: KeyState
  signs: boolean
  published_at: number
  active_at: number | null
  retiring_at: number | null
  retired_at: number | null
  /** When a retiring key may leave the key set. */
  remove_after: number | null
  /** Days since it was published. */
  age_days: number
  /** What KMS says of it. */
  kms_state: string
  spec: string | null
  created_at: number | null
  deletion_at: number | null
}

/** Every key on record, oldest first, with what KMS says of it. */
export const describeKeys = ({ at, ring, archive, kms }: Facts): ReportKey[] =>
  [...archive, ...(ring?.keys ?? [])]
    .map((key) => {
      const answer = kms.find(({ arn }) => arn === key.arn)
      return {
        kid: key.kid,
        arn: key.arn,
        state: key.state,
        signs: key.state === 'active',
        published_at: key.published_at,
        active_at: key.active_at,
        retiring_at: key.retiring_at,
        retired_at: key.retired_at,
        remove_after: key.remove_after,
        age_days: Math.round((at - key.published_at) / 864_000) / 100,
        kms_state: answer?.state ?? 'Unknown',
        spec: answer?.spec ?? null,
        created_at: answer?.createdAt ?? null,
        deletion_at: answer?.deletionAt ?? null,
      }
    })
    .sort((a, b) => a.published_at - b.published_at)
