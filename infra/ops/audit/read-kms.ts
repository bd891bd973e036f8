import {
  DescribeKeyCommand,
  GetKeyPolicyCommand,
  GetPublicKeyCommand,
  paginateListKeys,
  paginateListResourceTags,
} from '@aws-sdk/client-kms'
import { createPublicKey, type KeyObject } from 'node:crypto'
import { forEachConcurrently } from '../../../shared/for-each-concurrently.ts'
import { kms } from '../../../shared/aws/kms.ts'
import { signingKeyTagName } from '../../../shared/aws/signing-key-names.ts'
import { thumbprint } from '../../../shared/keys/set.ts'
import { isInOtherRegion, otherRegion } from '../../../shared/keys/kms.ts'
import { keyTagName } from '../../names.ts'
import type { Facts, KmsKey } from './facts.ts'

const readConcurrency = 8

/**
 * Reads every KMS key that has the tag of signing keys or is on record, and the public half of each with the
 * tag of the evidence key. KMS cannot search by tag, so this reads the tags of all keys in the account and
 * region. A key with tags that the caller is not allowed to read counts as another deployment's.
 */
export async function readKms(
  tag: { signing: string; evidence: string },
  recorded: readonly string[],
): Promise<Pick<Facts, 'kms' | 'evidenceKeys'>> {
  const arns = new Set(recorded)
  const evidenceKeys: KeyObject[] = []
  await forEachConcurrently(await listArns(), readConcurrency, async (arn) => {
    const tags = await readTags(arn)
    if (tags?.[signingKeyTagName] === tag.signing) arns.add(arn)
    if (tags?.[keyTagName] === tag.evidence) evidenceKeys.push(...(await readPublicKey(arn)))
  })
  const keys: KmsKey[] = []
  await forEachConcurrently(arns, readConcurrency, async (arn) => void keys.push(await describeKey(arn)))
  return { kms: keys, evidenceKeys }
}

async function listArns(): Promise<string[]> {
  const arns: string[] = []
  for await (const { Keys = [] } of paginateListKeys({ client: kms }, { Limit: 1000 }))
    arns.push(...Keys.flatMap(({ KeyArn }) => KeyArn ?? []))
  return arns
}

async function describeKey(arn: string): Promise<KmsKey> {
  const keyInState = (state: string): KmsKey => ({ arn, state, tags: {} })
  if (isInOtherRegion(arn)) return keyInState(otherRegion)
  const described = await resultOrErrorName(
    ['NotFoundException'],
    kms.send(new DescribeKeyCommand({ KeyId: arn })),
  )
  if (described === 'NotFoundException') return keyInState('Missing')
  if (typeof described === 'string') return keyInState('Denied')
  const { KeyMetadata: key } = described
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
    thumbprint: await readThumbprint(arn),
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

async function readThumbprint(arn: string): Promise<string | undefined> {
  const { n, e } = (await readPublicKey(arn))[0]?.export({ format: 'jwk' }) ?? {}
  return n === undefined || e === undefined ? undefined : thumbprint({ n, e })
}

/** Reads the public half of a key; empty if KMS does not return it. */
async function readPublicKey(arn: string): Promise<KeyObject[]> {
  const answer = await resultOrErrorName(
    ['DisabledException', 'KMSInvalidStateException', 'UnsupportedOperationException', 'NotFoundException'],
    kms.send(new GetPublicKeyCommand({ KeyId: arn })),
  )
  if (typeof answer === 'string' || answer.PublicKey === undefined) return []
  return [createPublicKey({ key: Buffer.from(answer.PublicKey), format: 'der', type: 'spki' })]
}

/**
 * Resolves with the answer, or with the name of the error if it is AccessDeniedException or one of `names`.
 */
async function resultOrErrorName<Answer>(names: string[], answer: Promise<Answer>): Promise<Answer | string> {
  try {
    return await answer
  } catch (error) {
    if (error instanceof Error && [...names, 'AccessDeniedException'].includes(error.name)) return error.name
    throw error
  }
}
