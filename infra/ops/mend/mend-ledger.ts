import { putEvidence } from '../../../shared/db/mend-evidence.ts'
import { type Change, ConditionFailed, transact, writeChange } from '../../../shared/db/write.ts'
import { forEachConcurrently } from '../../../shared/for-each-concurrently.ts'
import { OperationError } from '../errors.ts'
import { formatTable } from '../terminal.ts'
import { findChanged } from './find-changed.ts'
import { planMend } from './plan-mend.ts'

/** What a mend changes, or would change. */
export interface MendReport {
  since: string
  /** Name of the mend in the keys of its evidence, `MEND#…`; null for a dry run. */
  evidence: string | null
  changes: { pk: string; sk: string; what: 'delete' | 'replace' | 'create' }[]
}

/** Number of changes that are written at the same time. */
const concurrency = 32

/**
 * Takes the ledger back to an instant (epoch milliseconds): see planMend. Without `apply`, changes nothing.
 * Every change is one transaction with its evidence, on the condition that the item is as it was read; an
 * interrupted mend is continued by another one to the same instant.
 */
export async function mendLedger(
  since: number,
  apply: boolean,
  onProgress: (done: number, text: string) => void = () => undefined,
): Promise<MendReport> {
  const changes = await planMend(await findChanged(since), since)
  const startedAt = Date.now()
  if (apply) {
    let done = 0
    await forEachConcurrently(changes, concurrency, async (change) => {
      await applyChange(change, startedAt)
      done += 1
      onProgress(done, `${done} of ${changes.length} changes`)
    })
  }
  return {
    since: new Date(since).toISOString(),
    evidence: apply ? String(startedAt) : null,
    changes: changes.map(describeChange),
  }
}

async function applyChange(change: Change, startedAt: number): Promise<void> {
  try {
    await transact([writeChange(change), putEvidence(startedAt, change)])
  } catch (error) {
    if (!(error instanceof ConditionFailed)) throw error
    const { pk } = describeChange(change)
    throw new OperationError(
      `${pk} has changed since it was read: stop all traffic, then run the same command again`,
    )
  }
}

function describeChange({ before, after }: Change): MendReport['changes'][number] {
  const { pk, sk } = before ?? after ?? {}
  const what = after === undefined ? 'delete' : before === undefined ? 'create' : 'replace'
  return { pk: String(pk), sk: String(sk), what }
}

/** Formats the report of a mend as text. */
export function formatMend({ since, evidence, changes }: MendReport): string {
  const rows = changes.map(({ pk, sk, what }) => [what, pk, sk])
  const table = rows.length === 0 ? '' : `${formatTable(['CHANGE', 'PARTITION', 'ITEM'], rows)}\n`
  const done =
    evidence === null ? 'would change; nothing was: add --apply' : `changed; evidence: MEND#${evidence}`
  return `${table}${changes.length} items since ${since} ${done}`
}
