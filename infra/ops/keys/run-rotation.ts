import * as v from 'valibot'
import type { CommandContext } from '../command.ts'
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
  next_due: v.number(),
  waits_for_kms: v.optional(v.boolean(), false),
})

const waitsForKms =
  'KMS does not show everything yet, which can take minutes. The scheduled runs finish it: see keys status.'

/** Invokes the rotation function with a request, and shows the transitions that it made. */
export async function runRotation(
  { target, show }: CommandContext,
  request: Record<string, unknown>,
): Promise<boolean> {
  const { invokeFunction } = await import('../functions.ts')
  const result = v.parse(Result, await invokeFunction(`${target.namePrefix}rotate-signing-keys`, request))
  const transitions = result.transitions.map(
    ({ sequence, action, old_kid: old, new_kid: next }) =>
      `${sequence}  ${action}  ${[old, next].filter((kid) => kid !== null).join(' -> ')}`,
  )
  show(result, () =>
    [
      ...(transitions.length === 0 && !result.waits_for_kms ? ['There was nothing to do.'] : transitions),
      ...(result.waits_for_kms ? [waitsForKms] : []),
      `Signing key: ${result.signer ?? 'none'}. Next step due: ${formatInstant(result.next_due)}.`,
    ].join('\n'),
  )
  return true
}
