import * as v from 'valibot'
import type { PolicyDocument } from '../../model.ts'
import { compilePolicies } from '../iam/policy.ts'
import { AwsError } from '../wire/aws-error.ts'
import { operation, type Operation } from '../wire/operation.ts'
import { openKey, requireNotPendingDeletion } from './key-access.ts'
import type { KeyRing } from './key-ring.ts'

const KeyId = v.string()
const PolicyName = v.optional(v.literal('default'), 'default')

/** Reading and replacing a key's policy. */
export function keyPolicyOperations(ring: KeyRing): Record<string, Operation> {
  return {
    GetKeyPolicy: operation(v.object({ KeyId, PolicyName }), (input, call) => ({
      Policy: openKey(ring, call, 'GetKeyPolicy', input.KeyId).record.policy,
      PolicyName: input.PolicyName,
    })),

    PutKeyPolicy: operation(v.object({ KeyId, PolicyName, Policy: v.string() }), (input, call) => {
      const key = openKey(ring, call, 'PutKeyPolicy', input.KeyId)
      requireNotPendingDeletion(key)
      ring.save({ ...key.record, policy: JSON.stringify(parsePolicy(input.Policy)) })
    }),
  }
}

/** Reads a policy given as text; MalformedPolicyDocumentException if it is none that can be evaluated. */
export function parsePolicy(text: string): PolicyDocument {
  try {
    const policy = JSON.parse(text) as PolicyDocument
    compilePolicies([policy], 'the key')
    return policy
  } catch (error) {
    throw new AwsError(
      'MalformedPolicyDocumentException',
      error instanceof Error ? error.message : 'not a policy',
    )
  }
}
