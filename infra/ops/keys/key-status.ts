import type { Evidence } from '../../../shared/keys/evidence.ts'
import { readKeySet, type SigningKey } from '../../../shared/keys/key-set.ts'
import { readArchive, readEvidence } from '../../../shared/keys/key-set-store.ts'

/** The signing keys of a deployment according to its own records; instants are epoch milliseconds. */
export interface KeyStatus {
  /** All signing keys, oldest first, retired ones included. */
  keys: Pick<
    SigningKey,
    'kid' | 'arn' | 'state' | 'published_at' | 'active_at' | 'retiring_at' | 'retired_at'
  >[]
  evidence: Evidence[]
  /** When the rotation has its next step to do; null before the first key exists. */
  next_due: number | null
}

/** Reads the records of the signing keys. */
export async function readKeyStatus(): Promise<KeyStatus> {
  const [archived, keySet, evidence] = await Promise.all([readArchive(), readKeySet(), readEvidence()])
  const keys = [...archived, ...keySet.keys].sort((a, b) => a.published_at - b.published_at)
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

const instant = (at: number | null): string => (at === null ? '-' : new Date(at).toISOString())

/** Formats the status of the signing keys as text. */
export function formatKeyStatus({ keys, evidence, next_due }: KeyStatus): string {
  const lines = keys.flatMap(({ kid, arn, state, published_at, active_at, retiring_at, retired_at }) => [
    `${state.padEnd(10)}${kid}`,
    `          ${arn}`,
    `          published ${instant(published_at)}  active ${instant(active_at)}`,
    `          retiring  ${instant(retiring_at)}  retired ${instant(retired_at)}`,
  ])
  const records = evidence.map(
    ({ sequence, at, action, trigger }) => `${sequence}  ${instant(at)}  ${action} (${trigger.kind})`,
  )
  return [...lines, '', 'evidence', ...records, '', `next due  ${instant(next_due)}`].join('\n')
}
