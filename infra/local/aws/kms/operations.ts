import type { Operation } from '../wire/operation.ts'
import { encryptionOperations } from './encryption.ts'
import type { KeyRing } from './key-ring.ts'
import { lifecycleOperations } from './lifecycle.ts'
import { macOperations } from './macs.ts'
import { signingOperations } from './signing.ts'
import { tagOperations } from './tags.ts'

/** Every operation of KMS that the endpoint answers, by the name in X-Amz-Target (`TrentService.NAME`). */
export function kmsOperations(ring: KeyRing): Record<string, Operation> {
  return {
    ...lifecycleOperations(ring),
    ...signingOperations(ring),
    ...macOperations(ring),
    ...encryptionOperations(ring),
    ...tagOperations(ring),
  }
}
