import { ListKeysCommand, ListResourceTagsCommand } from '@aws-sdk/client-kms'
import { kms } from '../aws/kms.ts'
import { requireEnv } from '../env.ts'
import { log } from '../log.ts'
import { attemptTagName, signingKeyTagName } from './key-tags.ts'

/** Pages of 1,000 keys that are listed at most, and keys whose tags are read at the same time. */
const mostPages = 20
const atOnce = 8

/**
 * ARNs of this deployment's signing keys by the attempt that made them. KMS cannot search, so every key of the account and
 * region is looked at: this is asked only after a run has died between CreateKey and the ring.
 */
export async function findKeys(attemptIds: readonly string[]): Promise<Map<string, string[]>> {
  const found = new Map<string, string[]>()
  let marker: string | undefined
  for (let page = 0; page < mostPages; page += 1) {
    const { Keys = [], NextMarker } = await kms.send(
      new ListKeysCommand({ Limit: 1000, ...(marker === undefined ? {} : { Marker: marker }) }),
    )
    const arns = Keys.flatMap(({ KeyArn }) => (KeyArn === undefined ? [] : [KeyArn]))
    for (let start = 0; start < arns.length; start += atOnce) {
      await Promise.all(
        arns.slice(start, start + atOnce).map(async (arn) => {
          const attempt = await readAttemptTag(arn)
          if (attempt === undefined || !attemptIds.includes(attempt)) return
          found.set(attempt, [...(found.get(attempt) ?? []), arn])
        }),
      )
    }
    if (NextMarker === undefined) return found
    marker = NextMarker
  }
  log.error('too many keys to look at for signing keys of unfinished attempts')
  return found
}

/** The attempt that made a key, or undefined where the key is not one of ours. */
async function readAttemptTag(arn: string): Promise<string | undefined> {
  try {
    const { Tags = [] } = await kms.send(new ListResourceTagsCommand({ KeyId: arn }))
    const value = (name: string) => Tags.find(({ TagKey }) => TagKey === name)?.TagValue
    return value(signingKeyTagName) === requireEnv('SIGNING_KEY_TAG') ? value(attemptTagName) : undefined
  } catch (error) {
    // We may read the tags of no keys but our own, and a key may be deleted while we look.
    if (error instanceof Error && ['AccessDeniedException', 'NotFoundException'].includes(error.name)) {
      return undefined
    }
    throw error
  }
}
