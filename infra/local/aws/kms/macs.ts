import { createHmac } from 'node:crypto'
import * as v from 'valibot'
import { operation, type Operation } from '../wire/operation.ts'
import { Blob } from './blob.ts'
import { openKeyForUse, requireAlgorithm } from './key-access.ts'
import type { KeyRing } from './key-ring.ts'
import { macAlgorithms } from './key-specs.ts'

const MacInput = v.object({
  KeyId: v.string(),
  Message: Blob(1, 4096),
  MacAlgorithm: v.picklist(macAlgorithms),
})

/** Message authentication codes by HMAC keys. */
export function macOperations(ring: KeyRing): Record<string, Operation> {
  return {
    GenerateMac: operation(MacInput, (input, call) => {
      const key = openKeyForUse(ring, call, {
        action: 'GenerateMac',
        usage: 'GENERATE_VERIFY_MAC',
        reference: input.KeyId,
        context: { 'kms:MacAlgorithm': input.MacAlgorithm },
      })
      requireAlgorithm(key, input.MacAlgorithm)
      const mac = createHmac(`sha${input.MacAlgorithm.slice(-3)}`, key.material.secret)
        .update(input.Message)
        .digest()
      return { KeyId: key.record.arn, Mac: mac.toString('base64'), MacAlgorithm: input.MacAlgorithm }
    }),
  }
}
