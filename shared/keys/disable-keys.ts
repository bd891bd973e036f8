import { settings } from '../settings.ts'
import type { SigningKey, SigningKeySet } from './key-set.ts'
import { disableKey, findKeys } from './kms-keys.ts'
import { makeTransition, type Run, type StepOf, triggerOf, tryWrite } from './make-transition.ts'

/** Days until KMS deletes a key that was never published and never signed a token; KMS allows no fewer. */
const unusedDeletionDays = 7

/** The evidence that a key is disabled is written, and the key archived, once KMS says so. */
export async function disableRetiredKey(keySet: SigningKeySet, key: SigningKey, run: Run): Promise<void> {
  const { kid, arn, published_at } = key
  const kmsState = await disableKey(arn, settings().signingKeyDeletionDays, published_at)
  if (kmsState === undefined) {
    run.knowledge.unconfirmed = [...(run.knowledge.unconfirmed ?? []), kid]
    return
  }
  const transition = { action: 'disable', kid } as const
  await makeTransition(keySet, transition, run, { trigger: triggerOf(run, false), kmsState })
}

/**
 * Disables the keys of orphaned attempts: only the current attempt's key can join the key set. An attempt
 * whose key is known stays on record until KMS says that nobody can sign with it.
 */
export async function sweepOrphans(
  keySet: SigningKeySet,
  { orphans, expired }: StepOf<'sweepOrphans'>,
  run: Run,
): Promise<void> {
  const unnamed = orphans.filter(({ arn }) => arn === null).map(({ id }) => id)
  const found = unnamed.length === 0 ? new Map<string, string>() : (await findKeys(unnamed)).found
  run.knowledge.swept = 'all'
  const finished = new Set<string>()
  for (const { id, arn: named, started_at } of orphans) {
    const arn = named ?? found.get(id)
    if (arn === undefined ? expired.includes(id) : await disableKey(arn, unusedDeletionDays, started_at))
      finished.add(id)
    else if (arn !== undefined) run.knowledge.swept = 'some'
  }
  const orphaned_attempts = orphans.filter(({ id }) => !finished.has(id))
  if (finished.size > 0) await tryWrite(keySet, { ...keySet, orphaned_attempts })
}
