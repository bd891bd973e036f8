import * as v from 'valibot'
import type { PolicyDocument } from '../../model.ts'
import { compilePolicies } from '../iam/policy.ts'
import { AwsError } from '../wire/aws-error.ts'
import { operation, type Operation } from '../wire/operation.ts'
import { openKey, requireNotPendingDeletion, requireUsable } from './key-access.ts'
import { describeKey } from './describe-key.ts'
import type { KeyRing } from './key-ring.ts'
import { keySpecifications } from './key-specs.ts'
import { Page, paginate } from './pagination.ts'
import { TagList, readTags } from './tags.ts'

const KeyId = v.pipe(v.string(), v.minLength(1), v.maxLength(2048))
const ByKeyId = v.object({ KeyId })

const CreateKeyInput = v.object({
  KeySpec: v.optional(v.string()),
  CustomerMasterKeySpec: v.optional(v.string()),
  KeyUsage: v.optional(v.string(), 'ENCRYPT_DECRYPT'),
  Description: v.optional(v.pipe(v.string(), v.maxLength(8192)), ''),
  Policy: v.optional(v.string()),
  Origin: v.optional(v.literal('AWS_KMS'), 'AWS_KMS'),
  Tags: v.optional(TagList, []),
})

/** Creating keys, describing and listing them, and the states of their lives. */
export function lifecycleOperations(ring: KeyRing): Record<string, Operation> {
  return {
    CreateKey: operation(CreateKeyInput, async (input, call) => {
      const spec = input.KeySpec ?? input.CustomerMasterKeySpec ?? 'SYMMETRIC_DEFAULT'
      const tags = readTags(input.Tags)
      const context = {
        'kms:KeySpec': spec,
        'kms:KeyUsage': input.KeyUsage,
        'kms:KeyOrigin': input.Origin,
        'aws:TagKeys': Object.keys(tags),
        ...Object.fromEntries(Object.entries(tags).map(([name, value]) => [`aws:RequestTag/${name}`, value])),
      }
      call.authorize({ action: 'kms:CreateKey', resource: '*', context })
      const keyId = crypto.randomUUID()
      if (input.Tags.length > 0)
        call.authorize({ action: 'kms:TagResource', resource: ring.arnOf(`key/${keyId}`), context })
      const usage = keySpecifications[spec]?.usage
      if (usage !== undefined && usage !== input.KeyUsage)
        throw new AwsError(
          'ValidationException',
          `The KeyUsage ${input.KeyUsage} is not compatible with KeySpec ${spec}`,
        )
      const policy: PolicyDocument | undefined =
        input.Policy === undefined ? undefined : parsePolicy(input.Policy)
      const key = await ring.create({ keyId, spec, description: input.Description, policy, tags })
      return { KeyMetadata: describeKey(key) }
    }),

    DescribeKey: operation(ByKeyId, (input, call) => ({
      KeyMetadata: describeKey(openKey(ring, call, 'DescribeKey', input.KeyId)),
    })),

    ListKeys: operation(Page, (input, call) => {
      call.authorize({ action: 'kms:ListKeys', resource: '*' })
      const keys = ring.list().map(({ record }) => ({ KeyId: record.keyId, KeyArn: record.arn }))
      return paginate('Keys', keys, input)
    }),

    GetPublicKey: operation(ByKeyId, (input, call) => {
      const key = openKey(ring, call, 'GetPublicKey', input.KeyId)
      requireUsable(key)
      if (key.material.public === undefined)
        throw new AwsError('UnsupportedOperationException', `${key.record.arn} has no public key.`)
      return {
        KeyId: key.record.arn,
        PublicKey: key.material.public.export({ type: 'spki', format: 'der' }).toString('base64'),
        CustomerMasterKeySpec: key.record.spec,
        KeySpec: key.record.spec,
        KeyUsage: key.specification.usage,
        SigningAlgorithms: key.specification.algorithms,
      }
    }),

    EnableKey: operation(ByKeyId, (input, call) => {
      const key = openKey(ring, call, 'EnableKey', input.KeyId)
      requireNotPendingDeletion(key)
      ring.save({ ...key.record, state: 'Enabled' })
    }),

    DisableKey: operation(ByKeyId, (input, call) => {
      const key = openKey(ring, call, 'DisableKey', input.KeyId)
      requireNotPendingDeletion(key)
      ring.save({ ...key.record, state: 'Disabled' })
    }),

    ScheduleKeyDeletion: operation(
      v.object({
        KeyId,
        PendingWindowInDays: v.optional(v.pipe(v.number(), v.minValue(7), v.maxValue(30)), 30),
      }),
      (input, call) => {
        const days = input.PendingWindowInDays
        const key = openKey(ring, call, 'ScheduleKeyDeletion', input.KeyId, {
          'kms:ScheduleKeyDeletionPendingWindowInDays': String(days),
        })
        requireNotPendingDeletion(key)
        const deletionAt = Date.now() / 1000 + days * 86_400
        ring.save({ ...key.record, state: 'PendingDeletion', deletionAt })
        return {
          KeyId: key.record.arn,
          DeletionDate: deletionAt,
          KeyState: 'PendingDeletion',
          PendingWindowInDays: days,
        }
      },
    ),

    CancelKeyDeletion: operation(ByKeyId, (input, call) => {
      const key = openKey(ring, call, 'CancelKeyDeletion', input.KeyId)
      if (key.record.state !== 'PendingDeletion')
        throw new AwsError('KMSInvalidStateException', `${key.record.arn} is not pending deletion.`)
      ring.save({ ...key.record, state: 'Disabled', deletionAt: undefined })
      return { KeyId: key.record.arn }
    }),
  }
}

/** Reads a policy given as text; MalformedPolicyDocumentException if it is not one that can be evaluated. */
function parsePolicy(text: string): PolicyDocument {
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
