import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { errorSummary, log } from '../log.ts'
import type { Attempt, SigningKeySet } from './key-set.ts'
import { transitionFor } from './key-transitions.ts'
import { countKeys, createSigningKey, findKeys, isRefusedCreation, readPublicKey } from './kms-keys.ts'
import { makeTransition, type Run, type StepOf, triggerOf, tryWrite } from './make-transition.ts'
import { isUnusable } from './sign-jwt.ts'

/** First and maximum wait before a run tries again to use a key that KMS refuses; each wait is doubled. */
const minPauseMilliseconds = 100
const maxPauseMilliseconds = 8_000

/** Stores the attempt before the key is created in KMS, so that a crash in between leaves a trace. */
export async function beginAttempt(
  keySet: SigningKeySet,
  step: StepOf<'beginAttempt'>,
  run: Run,
): Promise<void> {
  const { purpose, replaces, requested } = step
  const trigger = triggerOf(run, requested)
  await storeNewAttempt(keySet, { purpose, replaces, trigger }, run)
}

/** KMS may show the key of the old attempt late, so unless KMS refused it that attempt stays on record. */
export async function restartAttempt(keySet: SigningKeySet, attempt: Attempt, run: Run): Promise<void> {
  const { id, started_at, arn, refused } = attempt
  if (!refused) log.warn('a signing key is given up, and another one is created', { attempt: id, arn })
  const orphans = refused ? [] : [{ id, started_at, arn }]
  const orphaned_attempts = [...keySet.orphaned_attempts, ...orphans]
  await storeNewAttempt({ ...keySet, orphaned_attempts }, attempt, run)
}

async function storeNewAttempt(
  keySet: SigningKeySet,
  { purpose, replaces, trigger }: Pick<Attempt, 'purpose' | 'replaces' | 'trigger'>,
  run: Run,
): Promise<void> {
  const id = randomUUID()
  const listed_before = await countKeys()
  const fresh = { id, started_at: Date.now(), arn: null, listed_before, refused: false }
  if (await storeAttempt(keySet, { ...fresh, purpose, replaces, trigger }))
    run.knowledge.attempt = { id, state: 'begun' }
}

const storeAttempt = (keySet: SigningKeySet, attempt: Attempt): Promise<boolean> =>
  tryWrite(keySet, { ...keySet, attempt })

export async function changePurpose(
  keySet: SigningKeySet,
  step: StepOf<'changePurpose'>,
  run: Run,
): Promise<void> {
  const { attempt, purpose, replaces } = step
  await storeAttempt(keySet, { ...attempt, purpose, replaces, trigger: triggerOf(run, true) })
}

/** If KMS refuses to create a key, that is stored: then the next run need not wait for the key to appear. */
export async function createKey(keySet: SigningKeySet, attempt: Attempt, run: Run): Promise<void> {
  try {
    const arn = await createSigningKey(attempt.id)
    run.knowledge.attempt = { id: attempt.id, state: 'created', arn }
  } catch (error) {
    if (isRefusedCreation(error)) await storeAttempt(keySet, { ...attempt, refused: true })
    throw error
  }
}

/** Stores the ARN at once, so that every run knows the key, even one that follows a crash. */
export async function nameKey(keySet: SigningKeySet, { attempt, arn }: StepOf<'nameKey'>): Promise<void> {
  await storeAttempt(keySet, { ...attempt, arn })
}

/**
 * Looks in KMS for the key of an attempt of another run, which may have crashed. If KMS lists more keys than
 * before the attempt, and some have tags that cannot be read, one of these may be the key.
 */
export async function findKey({ id, listed_before: before }: Attempt, run: Run): Promise<void> {
  const { found, listed, unreadable } = await findKeys([id])
  const arn = found.get(id)
  const mayAppear = unreadable > 0 && (listed === null || before === null || listed > before)
  run.knowledge.attempt =
    arn === undefined ? { id, state: 'not_found', mayAppear } : { id, state: 'created', arn }
}

/** While KMS refuses the use of the key, the step is repeated as long as the run may wait. */
export async function addKey(
  keySet: SigningKeySet,
  { attempt, arn }: StepOf<'addKey'>,
  run: Run,
): Promise<void> {
  try {
    const transition = transitionFor(attempt, keySet.keys, await readPublicKey(arn))
    await makeTransition({ ...keySet, attempt: null }, transition, run, { trigger: attempt.trigger })
  } catch (error) {
    const cause = error instanceof Error && isUnusable(error.cause) ? error.cause : error
    if (!isUnusable(cause)) throw error
    log.info('KMS does not let a new signing key be used yet', { arn, cause: errorSummary(cause) })
    const left = run.waitUntil - Date.now()
    if (left <= 0) run.knowledge.attempt = { id: attempt.id, state: 'unusable' }
    else await wait(Math.min(left, maxPauseMilliseconds, minPauseMilliseconds * 2 ** run.refusals))
    run.refusals += 1
  }
}
