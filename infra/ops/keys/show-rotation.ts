import * as v from 'valibot'
import type { Ops } from '../ops.ts'
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
})

/** Calls the rotation with a wish, and shows what it has done. */
export async function showRotation({ target, show }: Ops, call: Record<string, unknown>): Promise<boolean> {
  const { invokeFunction } = await import('../aws/invoke-function.ts')
  const result = v.parse(Result, await invokeFunction(`${target.namePrefix}rotate-signing-keys`, call))
  const steps = result.transitions.map(
    ({ sequence, action, old_kid: old, new_kid: next }) =>
      `${sequence}  ${action}  ${[old, next].filter((kid) => kid !== null).join(' -> ')}`,
  )
  show(result, () =>
    [
      ...(steps.length === 0 ? ['Nothing had to be done.'] : steps),
      `Signs now: ${result.signer ?? 'nothing'}. Next step due: ${formatInstant(result.next_due)}.`,
    ].join('\n'),
  )
  return true
}
