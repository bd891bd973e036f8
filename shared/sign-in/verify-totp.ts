import { createGuardrails, verify } from 'otplib'
import { secretByteLimits } from './totp-secret.ts'

const stepSeconds = 30
const guardrails = createGuardrails({
  MIN_SECRET_BYTES: secretByteLimits.least,
  MAX_SECRET_BYTES: secretByteLimits.most,
})

/**
 * The time step that a code of six digits is right for (RFC 6238: SHA-1, 30 s, one step of drift either way), or
 * undefined. Steps up to `lastStep`, the last one that was accepted, are used up.
 */
export async function verifyTotp(
  secret: string,
  code: string,
  lastStep: number | undefined,
  now: number,
): Promise<number | undefined> {
  const epoch = Math.floor(now / 1000)
  // A clock that ran ahead may have used up every step that this one could accept, which otplib takes for a mistake.
  const newest = Math.floor(epoch / stepSeconds) + 1
  if (lastStep !== undefined && lastStep >= newest) return undefined
  const result = await verify({
    secret,
    token: code,
    epoch,
    epochTolerance: stepSeconds,
    guardrails,
    ...(lastStep === undefined ? {} : { afterTimeStep: lastStep }),
  })
  return result.valid && 'timeStep' in result ? result.timeStep : undefined
}
