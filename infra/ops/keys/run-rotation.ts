import * as v from 'valibot'
import type { CommandContext } from '../command.ts'
import type { Target } from '../target.ts'
import { formatInstant } from '../terminal.ts'

const Result = v.object({
  signer: v.nullable(v.string()),
  transitions: v.array(
    v.object({
      sequence: v.number(),
      action: v.string(),
      old_kid: v.nullable(v.string()),
      new_kid: v.nullable(v.string()),
    }),
  ),
  retiring: v.array(v.object({ kid: v.string(), may_sign_milliseconds: v.number() })),
  next_due: v.number(),
  waits_for_kms: v.optional(v.boolean(), false),
})

/** What a run of the rotation function answered. */
export type RotationAnswer = v.InferOutput<typeof Result>

const waitsForKms =
  'KMS does not show everything yet, which can take minutes. The scheduled runs finish it: see keys status.'

/** Invokes the rotation function with a request, and shows the transitions that it made. */
export async function runRotation(
  { target, show }: CommandContext,
  request: Record<string, unknown>,
): Promise<boolean> {
  const answer = await invokeRotation(target, request)
  show(answer, () => describeRotation(answer))
  return true
}

/** Invokes the rotation function with a request. */
export async function invokeRotation(
  { namePrefix }: Target,
  request: Record<string, unknown>,
): Promise<RotationAnswer> {
  const { invokeFunction } = await import('../functions.ts')
  return v.parse(Result, await invokeFunction(`${namePrefix}rotate-signing-keys`, request))
}

/** Describes in lines of text what a run of the rotation did, and how long old keys may still sign. */
export function describeRotation({
  transitions,
  waits_for_kms,
  retiring,
  signer,
  next_due,
}: RotationAnswer): string {
  const now = Date.now()
  const made = transitions.map(
    ({ sequence, action, old_kid: old, new_kid: next }) =>
      `${sequence}  ${action}  ${[old, next].filter((kid) => kid !== null).join(' -> ')}`,
  )
  return [
    ...(made.length === 0 && !waits_for_kms ? ['There was nothing to do.'] : made),
    ...(waits_for_kms ? [waitsForKms] : []),
    `Signing key: ${signer ?? 'none'}. Next step due: ${formatInstant(next_due)}.`,
    ...retiring
      .filter(({ may_sign_milliseconds: rest }) => rest > 0)
      .map(
        ({ kid, may_sign_milliseconds: rest }) =>
          `Functions that keep the key set in memory may still sign with ${kid}, until ${formatInstant(now + rest)}.`,
      ),
  ].join('\n')
}
