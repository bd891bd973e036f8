import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import type { KeyTransition } from './apply-change.ts'
import { createSigningKey } from './create-signing-key.ts'
import { findKeys } from './find-keys.ts'
import type { MadeKey } from './made-key.ts'
import { readPublicKey } from './read-public-key.ts'
import { type Attempt, keyIn, type SigningKeySet, type SigningKey } from './key-set.ts'
import type { Run } from './run.ts'
import { writeTransition } from './write-change.ts'
import { writeKeySet } from './write-ring.ts'

const pollMilliseconds = 100

/**
 * Goes on with the CreateKey under way: this run's own, or that of another. Another run gets time to finish; if it does not,
 * its key is looked for by the attempt's tag, and only if there is none is a new attempt begun in place of the old one. The caller
 * reads the ring again in any case.
 */
export async function finishAttempt(ring: SigningKeySet, attempt: Attempt, run: Run): Promise<void> {
  const arn = await obtainKey(attempt, run)
  if (arn !== undefined) return takeIn(ring, attempt, run, arn)
  if (Date.now() - attempt.started_at < run.patienceMilliseconds) {
    await wait(pollMilliseconds)
    return
  }
  const [found] = (await findKeys([attempt.id])).get(attempt.id) ?? []
  return found === undefined ? beginAgain(ring, attempt, run) : takeIn(ring, attempt, run, found)
}

/** The key of this run's own attempt; undefined where the attempt is another run's. */
async function obtainKey(attempt: Attempt, run: Run): Promise<string | undefined> {
  if (run.inHand?.attemptId === attempt.id) return run.inHand.arn
  if (run.begun !== attempt.id) return undefined
  run.begun = undefined
  const arn = await createSigningKey(attempt.id)
  run.inHand = { attemptId: attempt.id, arn }
  return arn
}

async function takeIn(ring: SigningKeySet, attempt: Attempt, run: Run, arn: string): Promise<void> {
  const change = changeFor(ring.keys, attempt, await readPublicKey(arn))
  const evidence = await writeTransition(ring, change, {
    trigger: attempt.trigger,
    runId: run.id,
    times: run.times,
    finishesAttempt: true,
  })
  if (evidence === undefined) return
  run.inHand = undefined
  run.transitions.push(evidence)
}

/** The transition that an attempt was begun for, as far as the ring still asks for it. */
function changeFor(
  keys: readonly SigningKey[],
  { purpose, replaces }: Attempt,
  made: MadeKey,
): KeyTransition {
  const active = keyIn(keys, 'active')
  if (purpose === 'replace' && active !== undefined && active.kid === replaces) {
    return { action: 'revoke', kid: active.kid, successor: made.kid, made }
  }
  return purpose === 'activate' || active === undefined
    ? { action: 'activate', kid: made.kid, made }
    : { action: 'publish', made }
}

/** The old attempt's key may still turn up: KMS lists new keys late. It stays on the list of strays until it cannot any more. */
async function beginAgain(ring: SigningKeySet, attempt: Attempt, run: Run): Promise<void> {
  const renewed = { ...attempt, id: randomUUID(), started_at: Date.now() }
  const { id, started_at } = attempt
  const next = { ...ring, attempt: renewed, strays: [...ring.strays, { id, started_at }] }
  if (await writeKeySet(ring, next, [])) run.begun = renewed.id
}
