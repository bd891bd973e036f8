import { createPublicKey, randomUUID } from 'node:crypto'
import * as v from 'valibot'
import type { PolicyDocument } from '../../model.ts'
import { Policy } from '../../template/reader.ts'
import { type AccessRequest, tagContext } from '../iam/authorize.ts'
import type { Caller } from '../iam/callers.ts'
import { compilePolicies } from '../iam/policy.ts'
import { AwsError } from '../wire/http-messages.ts'
import { defineOperation, type Operation } from '../wire/operation.ts'
import { keySpecs } from './algorithms.ts'
import { keyOperation, requireNotPendingDeletion, requireUsable } from './key-access.ts'
import type { Key, KeyStore } from './key-store.ts'

const Tag = v.object({ TagKey: v.pipe(v.string(), v.minLength(1)), TagValue: v.string() })
const readTags = (tags: v.InferOutput<typeof Tag>[]): Record<string, string> =>
  Object.fromEntries(tags.map(({ TagKey, TagValue }) => [TagKey, TagValue]))
const PolicyText = v.pipe(v.string(), v.parseJson(), Policy)
const CreateKeyInput = v.pipe(
  v.object({
    KeySpec: v.optional(v.string(), 'SYMMETRIC_DEFAULT'),
    KeyUsage: v.optional(v.string(), 'ENCRYPT_DECRYPT'),
    Description: v.optional(v.string(), ''),
    Origin: v.optional(v.literal('AWS_KMS')),
    Tags: v.optional(v.array(Tag), []),
    Policy: v.optional(PolicyText),
  }),
  // Chooses the new key's id before the key exists, because IAM checks kms:TagResource for the key's ARN.
  v.transform(({ Tags, ...input }) => ({ ...input, tags: readTags(Tags), keyId: randomUUID() })),
)
type CreateKeyInput = v.InferOutput<typeof CreateKeyInput>

const DeletionInput = v.object({
  PendingWindowInDays: v.optional(v.pipe(v.number(), v.minValue(7), v.maxValue(30)), 30),
})
const NoInput = v.object({})

/** KMS operations that create, describe, list, disable and delete keys, and change and read their tags. */
export function keyOperations(keys: KeyStore): Record<string, Operation> {
  const onKey = keyOperation(keys)
  const switchState = (action: string, state: 'Enabled' | 'Disabled') =>
    onKey(action, NoInput, (key) => {
      requireNotPendingDeletion(key)
      keys.save({ ...key.record, state })
    })

  return {
    CreateKey: defineOperation(
      CreateKeyInput,
      (input) => creationAccess(keys, input),
      (input, { caller }) => createKey(keys, input, caller),
    ),
    DescribeKey: onKey('DescribeKey', NoInput, (key) => ({ KeyMetadata: describeKey(key) })),
    GetPublicKey: onKey('GetPublicKey', NoInput, describePublicKey),
    GetKeyPolicy: onKey('GetKeyPolicy', NoInput, ({ record }) => ({ Policy: record.policy })),
    PutKeyPolicy: onKey('PutKeyPolicy', v.object({ Policy: PolicyText }), ({ record }, input, { caller }) => {
      requireNoLockout(record.arn, input.Policy, caller)
      keys.save({ ...record, policy: JSON.stringify(input.Policy) })
    }),
    EnableKey: switchState('EnableKey', 'Enabled'),
    DisableKey: switchState('DisableKey', 'Disabled'),

    // ListKeys has only one page, because a stage has a handful of keys.
    ListKeys: defineOperation(
      NoInput,
      () => ({ action: 'kms:ListKeys', resource: '*' }),
      () => ({
        Keys: keys.list().map(({ record }) => ({ KeyId: record.keyId, KeyArn: record.arn })),
        Truncated: false,
      }),
    ),

    ScheduleKeyDeletion: onKey('ScheduleKeyDeletion', DeletionInput, (key, { PendingWindowInDays }) => {
      requireNotPendingDeletion(key)
      const deletionAt = Date.now() / 1000 + PendingWindowInDays * 86_400
      const KeyState = 'PendingDeletion'
      keys.save({ ...key.record, state: KeyState, deletionAt })
      return { KeyId: key.record.arn, DeletionDate: deletionAt, KeyState, PendingWindowInDays }
    }),

    // ListResourceTags has only one page, because a key has at most 50 tags.
    ListResourceTags: onKey('ListResourceTags', NoInput, ({ record }) => ({
      Tags: Object.entries(record.tags).map(([TagKey, TagValue]) => ({ TagKey, TagValue })),
      Truncated: false,
    })),

    UntagResource: onKey(
      'UntagResource',
      v.object({ TagKeys: v.array(v.string()) }),
      (key, { TagKeys }) => {
        requireNotPendingDeletion(key)
        const kept = Object.entries(key.record.tags).filter(([name]) => !TagKeys.includes(name))
        keys.save({ ...key.record, tags: Object.fromEntries(kept) })
      },
      ({ TagKeys }) => ({ 'aws:TagKeys': TagKeys }),
    ),
  }
}

function creationAccess(keys: KeyStore, { KeySpec, KeyUsage, tags, keyId }: CreateKeyInput) {
  const context: AccessRequest['context'] = {
    'kms:KeySpec': KeySpec,
    'kms:KeyUsage': KeyUsage,
    ...requestTags(tags),
  }
  const create = { action: 'kms:CreateKey', resource: '*', context }
  const tag = { action: 'kms:TagResource', resource: keys.arnOf(keyId), context }
  return Object.keys(tags).length === 0 ? [create] : [create, tag]
}

/** The condition keys with which IAM policies restrict the tags of a request. */
const requestTags = (tags: Record<string, string>) => ({
  'aws:TagKeys': Object.keys(tags),
  ...tagContext('aws:RequestTag', tags),
})

/**
 * Refuses a key policy that would not allow the caller to change it later. KMS does so, too ("policy lockout
 * safety check", KMS API reference, CreateKey). Ignores the key's tags, which IAM may not see yet.
 */
function requireNoLockout(resource: string, document: PolicyDocument, { findDenial }: Caller): void {
  const resourcePolicy = { policy: compilePolicies([document], resource), role: 'required' } as const
  if (findDenial({ action: 'kms:PutKeyPolicy', resource, resourcePolicy }) === undefined) return
  const message = 'The new key policy will not allow you to update the key policy in the future.'
  throw new AwsError('MalformedPolicyDocumentException', message)
}

async function createKey(keys: KeyStore, input: CreateKeyInput, caller: Caller) {
  const { keyId, KeySpec: spec, KeyUsage, Description: description, tags, Policy: keyPolicy } = input
  if (keyPolicy) requireNoLockout(keys.arnOf(keyId), keyPolicy, caller)
  const usage = keySpecs[spec]?.usage
  if (usage !== undefined && usage !== KeyUsage)
    throw new AwsError('ValidationException', `KeyUsage ${KeyUsage} is not compatible with KeySpec ${spec}`)
  const key = await keys.create({ keyId, spec, description, tags, keyPolicy })
  return { KeyMetadata: describeKey(key, key.record.state) }
}

const algorithmsMember = {
  SIGN_VERIFY: 'SigningAlgorithms',
  GENERATE_VERIFY_MAC: 'MacAlgorithms',
  ENCRYPT_DECRYPT: 'EncryptionAlgorithms',
}

function describeKey(
  { record, lagging, spec: { usage, algorithm } }: Key,
  KeyState: string = lagging.state.visible,
): Record<string, unknown> {
  return {
    KeyId: record.keyId,
    Arn: record.arn,
    CreationDate: record.createdAt,
    Enabled: KeyState === 'Enabled',
    Description: record.description,
    KeyUsage: usage,
    KeyState,
    DeletionDate: KeyState === 'PendingDeletion' ? record.deletionAt : undefined,
    Origin: 'AWS_KMS',
    KeySpec: record.spec,
    [algorithmsMember[usage]]: [algorithm],
  }
}

function describePublicKey(key: Key): Record<string, unknown> {
  requireUsable(key)
  const { record, spec, material } = key
  if (spec.usage !== 'SIGN_VERIFY')
    throw new AwsError('UnsupportedOperationException', `${record.arn} has no public key.`)
  return {
    KeyId: record.arn,
    PublicKey: createPublicKey(material).export({ type: 'spki', format: 'der' }).toString('base64'),
    KeySpec: record.spec,
    KeyUsage: spec.usage,
    SigningAlgorithms: [spec.algorithm],
  }
}
