import { createHmac, timingSafeEqual } from 'node:crypto'
import * as v from 'valibot'
import { AwsError } from '../wire/aws-error.ts'
import { operation, type Call, type Operation } from '../wire/operation.ts'
import { Blob } from './blob.ts'
import { openKeyForUse, requireAlgorithm } from './key-access.ts'
import type { KeyRing } from './key-ring.ts'
import { macAlgorithms } from './key-specs.ts'

const MacInput = v.object({
  KeyId: v.string(),
  Message: Blob(1, 4096),
  MacAlgorithm: v.picklist(macAlgorithms),
})
const VerifyMacInput = v.object({ ...MacInput.entries, Mac: Blob(1, 6144) })

/** Message authentication codes by HMAC keys. */
export function macOperations(ring: KeyRing): Record<string, Operation> {
  return {
    GenerateMac: operation(MacInput, (input, call) => {
      const { keyArn, mac } = computeMac(ring, call, 'GenerateMac', input)
      return { KeyId: keyArn, Mac: mac.toString('base64'), MacAlgorithm: input.MacAlgorithm }
    }),

    VerifyMac: operation(VerifyMacInput, (input, call) => {
      const { keyArn, mac } = computeMac(ring, call, 'VerifyMac', input)
      if (mac.length !== input.Mac.length || !timingSafeEqual(mac, input.Mac))
        throw new AwsError('KMSInvalidMacException', 'The HMAC is not valid.')
      return { KeyId: keyArn, MacValid: true, MacAlgorithm: input.MacAlgorithm }
    }),
  }
}

function computeMac(ring: KeyRing, call: Call, action: string, input: v.InferOutput<typeof MacInput>) {
  const key = openKeyForUse(ring, call, {
    action,
    usage: 'GENERATE_VERIFY_MAC',
    reference: input.KeyId,
    context: { 'kms:MacAlgorithm': input.MacAlgorithm },
  })
  requireAlgorithm(key, input.MacAlgorithm)
  const mac = createHmac(`sha${input.MacAlgorithm.slice(-3)}`, key.material.secret)
    .update(input.Message)
    .digest()
  return { keyArn: key.record.arn, mac }
}
