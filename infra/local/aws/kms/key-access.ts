import * as v from 'valibot'
import { type AccessRequest, tagContext } from '../iam/authorize.ts'
import { AwsError } from '../wire/http-messages.ts'
import { type Call, defineOperation, type Operation } from '../wire/operation.ts'
import type { Key, KeyStore } from './key-store.ts'

/** The IAM condition keys of a KMS request, by name. */
export type Context = AccessRequest['context']

/** Returns a function that defines an operation on a KMS key. `context` adds IAM condition keys. */
export function keyOperation(keys: KeyStore) {
  return <const Schema extends v.GenericSchema>(
    action: string,
    schema: Schema,
    run: (key: Key, input: v.InferOutput<Schema>, call: Call) => unknown,
    context?: (input: v.InferOutput<Schema>) => Context,
  ): Operation =>
    defineOperation(
      v.intersect([v.object({ KeyId: v.string() }), schema]),
      (input) => keyAccess(action, keys.find(input.KeyId), context?.(input)),
      (input, call) => run(keys.find(input.KeyId), input, call),
    )
}

/** Returns the access request for an action on a KMS key. IAM and the key's own policy decide on it. */
export function keyAccess(action: string, key: Key, context: Context = {}): AccessRequest {
  const { record, lagging, spec, policy } = key
  return {
    action: `kms:${action}`,
    resource: record.arn,
    resourcePolicy: { policy, role: 'required' },
    context: {
      'kms:KeySpec': record.spec,
      'kms:KeyUsage': spec.usage,
      ...tagContext('aws:ResourceTag', lagging.tags.visible),
      ...context,
    },
  }
}

/** Throws DisabledException for a disabled key, KMSInvalidStateException for one being created or deleted. */
export function requireUsable({ record, lagging }: Key): void {
  const state = lagging.state.visible
  if (state === 'Disabled') throw new AwsError('DisabledException', `${record.arn} is disabled.`)
  if (state !== 'Enabled')
    throw new AwsError('KMSInvalidStateException', `${record.arn} is ${stateWords[state]}.`)
}

const stateWords = { Creating: 'creating', PendingDeletion: 'pending deletion' }

/** Throws KMSInvalidStateException if a KMS key is pending deletion, even if callers cannot see that yet. */
export function requireNotPendingDeletion({ record }: Key): void {
  if (record.state === 'PendingDeletion')
    throw new AwsError('KMSInvalidStateException', `${record.arn} is pending deletion.`)
}
