import { AwsError } from '../wire/aws-error.ts'
import type { Call } from '../wire/operation.ts'
import type { Key, KeyRing } from './key-ring.ts'

/** How a key is to be used, for the policies' conditions. */
export type KeyUseContext = Record<string, string | readonly string[] | undefined>

/** Finds a key and checks that the caller may do `action` with it. */
export function openKey(
  ring: KeyRing,
  call: Call,
  action: string,
  reference: string,
  context: KeyUseContext = {},
): Key {
  const key = ring.find(reference)
  call.authorize({
    action: `kms:${action}`,
    resource: key.record.arn,
    resourcePolicy: { policy: key.policy, role: 'required' },
    context: { ...describeKeyContext(key), ...context },
  })
  return key
}

function describeKeyContext(key: Key): KeyUseContext {
  return {
    'kms:CallerAccount': key.record.arn.split(':')[4],
    'kms:KeySpec': key.record.spec,
    'kms:KeyUsage': key.specification.usage,
    'kms:KeyOrigin': 'AWS_KMS',
    ...Object.fromEntries(
      Object.entries(key.record.tags).map(([name, value]) => [`aws:ResourceTag/${name}`, value]),
    ),
  }
}

/** A key that is about to do cryptography: it must be enabled and meant for it. */
export function openKeyForUse(
  ring: KeyRing,
  call: Call,
  use: { action: string; usage: Key['specification']['usage']; reference: string; context?: KeyUseContext },
): Key {
  const key = openKey(ring, call, use.action, use.reference, use.context)
  requireUsable(key)
  if (key.specification.usage !== use.usage)
    throw new AwsError(
      'InvalidKeyUsageException',
      `${key.record.arn} key usage is ${key.specification.usage} which is not valid for ${use.action}.`,
    )
  return key
}

/** Refuses a disabled key and one that awaits its deletion. */
export function requireUsable(key: Key): void {
  if (key.record.state === 'Disabled')
    throw new AwsError('DisabledException', `${key.record.arn} is disabled.`)
  requireNotPendingDeletion(key)
}

/** Refuses a key that awaits its deletion. */
export function requireNotPendingDeletion(key: Key): void {
  if (key.record.state === 'PendingDeletion')
    throw new AwsError('KMSInvalidStateException', `${key.record.arn} is pending deletion.`)
}

/** Refuses an algorithm that the key's spec does not offer. */
export function requireAlgorithm(key: Key, algorithm: string): void {
  if (!key.specification.algorithms.includes(algorithm))
    throw new AwsError(
      'InvalidKeyUsageException',
      `Algorithm ${algorithm} and key spec ${key.record.spec} are incompatible.`,
    )
}
