import {
  DescribeKeyCommand,
  GetPublicKeyCommand,
  ListKeysCommand,
  ListResourceTagsCommand,
} from '@aws-sdk/client-kms'
import { createPublicKey } from 'node:crypto'
import { kms } from '../../../shared/aws/kms.ts'
import { signingKeyTagName } from '../../../shared/aws/signing-key-names.ts'
import { thumbprint } from '../../../shared/keys/set.ts'
import { isInOtherRegion, otherRegion } from '../../../shared/keys/kms.ts'
import type { KmsKey } from './facts.ts'

const readConcurrency = 8

/**
 * Reads every KMS key that has the deployment's tag or is on record. KMS cannot search by tag, so this reads
 * the tags of all keys in the account and region. A key whose tags the caller may not read is not this
 * deployment's.
 */
export async function readKms(tag: string, recorded: readonly string[]): Promise<KmsKey[]> {
  const listed = await listArns()
  const tags = await mapConcurrently(listed, async (arn) => ({ arn, tags: await readTags(arn) }))
  const ours = tags.filter((key) => key.tags?.[signingKeyTagName] === tag).map(({ arn }) => arn)
  return mapConcurrently([...new Set([...recorded, ...ours])], describeKey)
}

async function listArns(): Promise<string[]> {
  const arns: string[] = []
  let marker: string | undefined
  do {
    const { Keys = [], NextMarker } = await kms.send(
      new ListKeysCommand({ Limit: 1000, ...(marker === undefined ? {} : { Marker: marker }) }),
    )
    arns.push(...Keys.flatMap(({ KeyArn }) => KeyArn ?? []))
    marker = NextMarker
  } while (marker !== undefined)
  return arns
}

async function describeKey(arn: string): Promise<KmsKey> {
  const keyInState = (state: string): KmsKey => ({
    arn,
    state,
    spec: undefined,
    usage: undefined,
    origin: undefined,
    createdAt: undefined,
    deletionAt: undefined,
    tags: {},
    thumbprint: undefined,
  })
  if (isInOtherRegion(arn)) return keyInState(otherRegion)
  const described = await resultOrErrorName(
    ['NotFoundException'],
    kms.send(new DescribeKeyCommand({ KeyId: arn })),
  )
  if (described === 'NotFoundException') return keyInState('Missing')
  if (typeof described === 'string') return keyInState('Denied')
  const { KeyMetadata: key } = described
  return {
    ...keyInState(key?.KeyState ?? 'Unknown'),
    spec: key?.KeySpec,
    usage: key?.KeyUsage,
    origin: key?.Origin,
    createdAt: key?.CreationDate?.getTime(),
    deletionAt: key?.DeletionDate?.getTime(),
    tags: (await readTags(arn)) ?? {},
    thumbprint: await readThumbprint(arn),
  }
}

async function readTags(arn: string): Promise<Record<string, string> | undefined> {
  const tags: Record<string, string> = {}
  let marker: string | undefined
  do {
    const answer = await resultOrErrorName(
      ['NotFoundException'],
      kms.send(
        new ListResourceTagsCommand({ KeyId: arn, ...(marker === undefined ? {} : { Marker: marker }) }),
      ),
    )
    if (typeof answer === 'string') return undefined
    for (const { TagKey = '', TagValue = '' } of answer.Tags ?? []) tags[TagKey] = TagValue
    marker = answer.NextMarker
  } while (marker !== undefined)
  return tags
}

async function readThumbprint(arn: string): Promise<string | undefined> {
  const answer = await resultOrErrorName(
    ['DisabledException', 'KMSInvalidStateException', 'UnsupportedOperationException', 'NotFoundException'],
    kms.send(new GetPublicKeyCommand({ KeyId: arn })),
  )
  if (typeof answer === 'string' || answer.PublicKey === undefined) return undefined
  const key = createPublicKey({ key: Buffer.from(answer.PublicKey), format: 'der', type: 'spki' })
  const { n, e } = key.export({ format: 'jwk' })
  return n === undefined || e === undefined ? undefined : thumbprint({ n, e })
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

/** Maps items asynchronously, `readConcurrency` at a time, and keeps their order. */
async function mapConcurrently<Item, Result>(
  items: Item[],
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = []
  for (let start = 0; start < items.length; start += readConcurrency)
    results.push(...(await Promise.all(items.slice(start, start + readConcurrency).map(work))))
  return results
}
