import { ListKeysCommand, ListResourceTagsCommand } from '@aws-sdk/client-kms'
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll } from 'vitest'
import { kms } from '../../shared/aws/kms.ts'
import { forgetCachedKeySet } from '../../shared/keys/sign.ts'
import { signingKeyTagName } from '../../shared/aws/signing-key-names.ts'
import { useOwnTable } from './own-table.ts'
import { readKeyState } from '../../shared/keys/kms.ts'

/**
 * Gives a test file a table, a key tag and a bucket of its own, so that no other test rotates its signing
 * keys. `renew` replaces the key set with an empty key set.
 */
export function useOwnKeys(): { renew: () => Promise<void> } {
  const { SIGNING_KEY_TAG } = process.env
  const removals: (() => Promise<void>)[] = []
  const renew = async (): Promise<void> => {
    removals.unshift(await useOwnTable())
    process.env['SIGNING_KEY_TAG'] = `keys-${randomUUID()}`
    process.env['EVIDENCE_COPIES'] = `${process.env['AWS_ENDPOINT_URL']}/${randomUUID()}/`
    forgetCachedKeySet()
  }
  beforeAll(renew)
  afterAll(async () => {
    Object.assign(process.env, { SIGNING_KEY_TAG, EVIDENCE_COPIES: '' })
    forgetCachedKeySet()
    for (const remove of removals) await remove()
  })
  return { renew }
}

/** Caches the tag of each KMS key, by ARN. Tags never change, and reading them every time would be slow. */
const tagOf = new Map<string, string | undefined>()

/** Lists the KMS keys with the tag of the current key set, and their states. */
export async function listOwnKeys(): Promise<{ arn: string; state: string }[]> {
  const own: string[] = []
  let marker: string | undefined
  do {
    const page = await kms.send(
      new ListKeysCommand({ Limit: 1000, ...(marker === undefined ? {} : { Marker: marker }) }),
    )
    for (const { KeyArn = '' } of page.Keys ?? []) {
      if (!tagOf.has(KeyArn)) {
        // Keys that protect data do not show their tags, because their policies deny ListResourceTags.
        const { Tags = [] } = await kms
          .send(new ListResourceTagsCommand({ KeyId: KeyArn }))
          .catch(() => ({ Tags: [] }))
        tagOf.set(KeyArn, Tags.find(({ TagKey }) => TagKey === signingKeyTagName)?.TagValue)
      }
      if (tagOf.get(KeyArn) === process.env['SIGNING_KEY_TAG']) own.push(KeyArn)
    }
    marker = page.NextMarker
  } while (marker !== undefined)
  return Promise.all(own.map(async (arn) => ({ arn, state: await readKeyState(arn) })))
}
