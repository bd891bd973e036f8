import {
  DescribeKeyCommand,
  GetKeyPolicyCommand,
  GetPublicKeyCommand,
  paginateListKeys,
  paginateListResourceTags,
} from '@aws-sdk/client-kms'
import { createPublicKey } from 'node:crypto'
import { forEachConcurrently } from '../../../shared/for-each-concurrently.ts'
import { kms } from '../../../shared/aws/kms.ts'
import { signingKeyTagName } from '../../../shared/aws/signing-key-names.ts'
import { thumbprint } from '../../../shared/keys/set.ts'
import { isInOtherRegion, otherRegion } from '../../../shared/keys/kms.ts'
import { keyTagName } from '../../names.ts'
import type { ShowProgress } from '../progress.ts'
import type { KmsKey } from './facts.ts'

const readConcurrency = 8

/**
 * Finds the ARNs of all KMS keys with the tag of signing keys or of the evidence key. KMS cannot search by
 * tag, so the tags of every key in the account and region are read. A key with unreadable tags counts as
 * another deployment's.
 */
export async function findTaggedKeys(tag: { signing: string; evidence: string }, showProgress: ShowProgress) {
  const found: Record<'signing' | 'evidence', string[]> = { signing: [], evidence: [] }
  const arns = await listArns()
  let read = 0
  await forEachConcurrently(arns, readConcurrency, async (arn) => {
    const tags = await readTags(arn)
    showProgress((read += 1), arns.length)
    if (tags?.[signingKeyTagName] === tag.signing) found.signing.push(arn)
    if (tags?.[keyTagName] === tag.evidence) found.evidence.push(arn)
  })
  return found
}

/** Describes keys, several at a time; not necessarily in the given order. */
export async function describeKeys(arns: readonly string[]): Promise<KmsKey[]> {
  const keys: KmsKey[] = []
  await forEachConcurrently(arns, readConcurrency, async (arn) => void keys.push(await describeKey(arn)))
  return keys
}

async function listArns(): Promise<string[]> {
  const arns: string[] = []
  for await (const { Keys = [] } of paginateListKeys({ client: kms }, { Limit: 1000 }))
    arns.push(...Keys.flatMap(({ KeyArn }) => KeyArn ?? []))
  return arns
}

/** Reads what KMS tells about a key. If the caller cannot read the key, `state` tells the reason. */
export async function describeKey(arn: string): Promise<KmsKey> {
  const keyInState = (state: string): KmsKey => ({ arn, state, tags: {} })
  if (isInOtherRegion(arn)) return keyInState(otherRegion)
  const described = await resultOrErrorName(
    ['NotFoundException'],
    kms.send(new DescribeKeyCommand({ KeyId: arn })),
  )
  if (described === 'NotFoundException') return keyInState('Missing')
  if (typeof described === 'string') return keyInState('Denied')
  const { KeyMetadata: key } = described
  const publicKey = await readPublicKey(arn)
  const policy = await resultOrErrorName([], kms.send(new GetKeyPolicyCommand({ KeyId: arn })))
  return {
    ...keyInState(key?.KeyState ?? 'Unknown'),
    spec: key?.KeySpec,
    usage: key?.KeyUsage,
    origin: key?.Origin,
    createdAt: key?.CreationDate?.getTime(),
    deletionAt: key?.DeletionDate?.getTime(),
    tags: (await readTags(arn)) ?? {},
    policy: typeof policy === 'string' ? undefined : policy.Policy,
    publicKey,
    thumbprint: publicKey && thumbprintOf(publicKey),
  }
}

/** Reads the tags of a key; undefined if the caller may not read them or there is no such key. */
async function readTags(arn: string): Promise<Record<string, string> | undefined> {
  const tags: Record<string, string> = {}
  const read = async () => {
    for await (const { Tags = [] } of paginateListResourceTags({ client: kms }, { KeyId: arn }))
      for (const { TagKey = '', TagValue = '' } of Tags) tags[TagKey] = TagValue
    return tags
  }
  const answer = await resultOrErrorName(['NotFoundException'], read())
  return typeof answer === 'string' ? undefined : answer
}

function thumbprintOf(publicKey: string): string | undefined {
  const { n, e } = createPublicKey(publicKey).export({ format: 'jwk' })
  return n === undefined || e === undefined ? undefined : thumbprint({ n, e })
}

/** Reads the public half of a key as PEM; undefined if KMS does not return it. */
async function readPublicKey(arn: string): Promise<string | undefined> {
  const answer = await resultOrErrorName(
    ['DisabledException', 'KMSInvalidStateException', 'UnsupportedOperationException', 'NotFoundException'],
    kms.send(new GetPublicKeyCommand({ KeyId: arn })),
  )
  if (typeof answer === 'string' || answer.PublicKey === undefined) return undefined
  const key = createPublicKey({ key: Buffer.from(answer.PublicKey), format: 'der', type: 'spki' })
  return key.export({ format: 'pem', type: 'spki' }).toString()
}

/** Resolves with the answer. For AccessDeniedException and the errors in `names`, resolves with the name. */
async function resultOrErrorName<Answer>(names: string[], answer: Promise<Answer>): Promise<Answer | string> {
  try {
    return await answer
  } catch (error) {
    if (error instanceof Error && [...names, 'AccessDeniedException'].includes(error.name)) return error.name
    throw error
  }
}
