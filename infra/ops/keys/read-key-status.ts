import type { Evidence } from '../../../shared/keys/evidence.ts'
import { type SigningKey, readKeySet } from '../../../shared/keys/key-set.ts'
import { readArchive, readEvidence } from '../../../shared/keys/key-set-store.ts'

/** The signing keys of a deployment as its own records tell it; instants are epoch milliseconds. */
export interface KeyStatus {
  /** Oldest first, retired ones included. */
  keys: Pick<
    SigningKey,
    'kid' | 'arn' | 'state' | 'published_at' | 'active_at' | 'retiring_at' | 'retired_at'
  >[]
  evidence: Evidence[]
  /** When the clock has something to do next; null before the first key. */
  next_due: number | null
}

/** Reads what the table knows of the signing keys. */
export async function readKeyStatus(): Promise<KeyStatus> {
  const [archived, ring, evidence] = await Promise.all([readArchive(), readKeySet(), readEvidence()])
  const keys = [...archived, ...ring.keys].sort((a, b) => a.published_at - b.published_at)
  return {
    keys: keys.map(({ kid, arn, state, published_at, active_at, retiring_at, retired_at }) => ({
      kid,
      arn,
      state,
      published_at,
      active_at,
      retiring_at,
      retired_at,
    })),
    evidence,
    next_due: evidence.at(-1)?.next_due ?? null,
  }
}
