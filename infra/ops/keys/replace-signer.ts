import { setTimeout as wait } from 'node:timers/promises'
import { kmsLagMilliseconds } from '../../../shared/keys/times.ts'
import type { CommandContext } from '../command.ts'
import { OperationError } from '../errors.ts'
import { readKeyStatus } from './key-status.ts'
import { describeRotation, invokeRotation, type RotationAnswer } from './run-rotation.ts'

/** Pause between two questions whether KMS lets the new key sign by now. */
const pollMilliseconds = 15_000

/**
 * Lets a new key sign at once, waits until no function can sign with an old one, and revokes every old key.
 * In this order, because a token that is signed with a revoked key verifies nowhere.
 */
export async function replaceSigner(context: CommandContext, by: string | undefined): Promise<boolean> {
  const { target, terminal, show } = context
  const rotated = await rotateNow(context, by)
  terminal.err(describeRotation(rotated))
  const rest = Math.max(0, ...rotated.retiring.map(({ may_sign_milliseconds }) => may_sign_milliseconds))
  terminal.err(`Waiting ${Math.ceil(rest / 1000)} s before the old keys are revoked.`)
  await wait(rest)
  const answers = [rotated]
  for (const { kid } of rotated.retiring)
    answers.push(await invokeRotation(target, { action: 'revoke', kid, requested_by: by }))
  const answer = joinAnswers(answers)
  show(answer, () => describeRotation(answer))
  return true
}

/** Starts an emergency rotation and waits until a new key signs, which takes minutes while KMS lags. */
async function rotateNow(
  { target, terminal }: CommandContext,
  by: string | undefined,
): Promise<RotationAnswer> {
  const { keys } = await readKeyStatus()
  const before = keys.find(({ state }) => state === 'active')?.kid ?? null
  const giveUpAt = Date.now() + kmsLagMilliseconds
  let answer = await invokeRotation(target, { action: 'rotate', emergency: true, requested_by: by })
  while (answer.signer === before) {
    if (Date.now() > giveUpAt) throw new OperationError('no new key signs yet, and no key was revoked')
    terminal.err('KMS does not let the new key sign yet.')
    await wait(pollMilliseconds)
    answer = joinAnswers([answer, await invokeRotation(target, {})])
  }
  return answer
}

/** One answer for all runs: every transition, and the state after the last one. */
const joinAnswers = (answers: RotationAnswer[]): RotationAnswer => ({
  ...(answers.at(-1) as RotationAnswer),
  transitions: answers.flatMap(({ transitions }) => transitions),
  waits_for_kms: answers.some(({ waits_for_kms }) => waits_for_kms),
})
