import {
  CreateKeyCommand,
  DescribeKeyCommand,
  DisableKeyCommand,
  GetPublicKeyCommand,
  KMSClient,
  KMSInvalidStateException,
  KMSServiceException,
  ListResourceTagsCommand,
  NotFoundException,
  paginateListKeys,
  ScheduleKeyDeletionCommand,
  VerifyCommand,
} from '@aws-sdk/client-kms'
import { exportJWK } from 'jose'
import { createHash, createPublicKey, randomBytes, verify } from 'node:crypto'
import { awsClient } from '../aws/aws-client.ts'
import { clientOptions } from '../aws/client-options.ts'
import { kms } from '../aws/kms.ts'
import { requireEnv } from '../env.ts'
import { errorSummary, log } from '../log.ts'
import { settings } from '../settings.ts'
import type { KeyCheck } from './evidence.ts'
import { attemptTagName, signingAlgorithm, signingKeyTagName } from './key-names.ts'
import { type CreatedKey, thumbprint, toJwk } from './key-set.ts'
import { kmsLagMilliseconds } from './key-times.ts'
import { isUnusable, signDigest } from './sign-jwt.ts'

/** Creates a signing key in KMS, tagged with this deployment and the attempt. Resolves with its ARN. */
export async function createSigningKey(attemptId: string): Promise<string> {
  // The SDK must not retry CreateKey: after a lost answer a retry would create a second key. The attempt's
  // tag finds the first one instead.
  const client = awsClient(new KMSClient({ ...clientOptions(), maxAttempts: 1 }))
  const { KeyMetadata } = await client.send(
    new CreateKeyCommand({
      KeySpec: settings().signingKeySpec,
      KeyUsage: 'SIGN_VERIFY',
      Description: 'signs device_tokens',
      Tags: [
        { TagKey: signingKeyTagName, TagValue: requireEnv('SIGNING_KEY_TAG') },
        { TagKey: attemptTagName, TagValue: attemptId },
      ],
    }),
  )
  if (KeyMetadata?.Arn === undefined) throw new Error('KMS answered CreateKey without an ARN')
  return KeyMetadata.Arn
}

/** Whether KMS answered CreateKey by refusing it, so that it has certainly created no key. */
export const isRefusedCreation = (error: unknown): boolean =>
  error instanceof KMSServiceException && error.$fault === 'client'

const maxListPages = 20
const listPageSize = 1000
const tagReadConcurrency = 8

/** Lists the ARNs of all keys of the account and region; `complete` is false if they are too many. */
async function listKeys(): Promise<{ arns: string[]; complete: boolean }> {
  const arns: string[] = []
  let pages = 0
  for await (const { Keys = [], Truncated } of paginateListKeys(
    { client: kms, pageSize: listPageSize },
    {},
  )) {
    arns.push(...Keys.flatMap(({ KeyArn }) => KeyArn ?? []))
    pages += 1
    if (pages === maxListPages && Truncated === true) return { arns, complete: false }
  }
  return { arns, complete: true }
}

/** Counts the keys of the account and region; null if they are too many. */
export async function countKeys(): Promise<number | null> {
  const { arns, complete } = await listKeys()
  return complete ? arns.length : null
}

/** This deployment's signing keys, and how many keys KMS lists. */
interface OwnKeys {
  keys: { arn: string; tags: ReadonlyMap<string, string> }[]
  /** How many keys KMS lists; null if they are too many to look at. */
  listed: number | null
  /** How many of them have tags that cannot be read: keys of others, and our own while KMS lags. */
  unreadable: number
}

/**
 * Finds this deployment's signing keys. KMS cannot search by tag, so this reads the tags of every key of the
 * account and region. It misses a key while KMS lags.
 */
export async function findOwnKeys(): Promise<OwnKeys> {
  const { arns, complete } = await listKeys()
  if (!complete) log.error('looked at a part of the keys of the account only: there are too many')
  const keys: OwnKeys['keys'] = []
  let unreadable = 0
  const look = async (arn: string): Promise<void> => {
    const tags = await readTags(arn)
    if (tags === undefined) unreadable += 1
    else if (tags.get(signingKeyTagName) === requireEnv('SIGNING_KEY_TAG')) keys.push({ arn, tags })
  }
  for (let start = 0; start < arns.length; start += tagReadConcurrency)
    await Promise.all(arns.slice(start, start + tagReadConcurrency).map(look))
  return { keys, listed: complete ? arns.length : null, unreadable }
}

/** What KMS shows of the keys of unfinished attempts. */
interface FoundKeys extends Pick<OwnKeys, 'listed' | 'unreadable'> {
  /** The ARNs of the attempts' keys, by the attempts' ids. */
  found: Map<string, string>
}

/**
 * Finds this deployment's signing keys that the given attempts created. It is needed only after a run has
 * crashed between CreateKey and the write of the key set.
 */
export async function findKeys(attemptIds: readonly string[]): Promise<FoundKeys> {
  const { keys, ...counts } = await findOwnKeys()
  const byAttempt = keys.map(({ arn, tags }) => [tags.get(attemptTagName) ?? '', arn] as const)
  return { ...counts, found: new Map(byAttempt.filter(([attempt]) => attemptIds.includes(attempt))) }
}

/** Reads the tags of a key; undefined if the key is unknown or, as those of others, denied. */
async function readTags(arn: string): Promise<Map<string, string> | undefined> {
  try {
    const { Tags = [] } = await kms.send(new ListResourceTagsCommand({ KeyId: arn }))
    return new Map(Tags.map(({ TagKey = '', TagValue = '' }) => [TagKey, TagValue]))
  } catch (error) {
    if (isUnusable(error)) return undefined
    throw error
  }
}

/** Reads the public key of a KMS key, in the form that the key set stores. */
export async function readPublicKey(arn: string): Promise<CreatedKey> {
  const { PublicKey } = await kms.send(new GetPublicKeyCommand({ KeyId: arn }))
  if (PublicKey === undefined) throw new Error('KMS answered GetPublicKey without a key')
  const { n, e } = await exportJWK(
    createPublicKey({ key: Buffer.from(PublicKey), format: 'der', type: 'spki' }),
  )
  if (n === undefined || e === undefined) throw new Error('the signing key is not an RSA key')
  return { kid: await thumbprint({ n, e }), arn, n, e }
}

/**
 * Tests a signing key: signs random bytes, and verifies the signature by KMS and by the public key. It never
 * throws: what failed is false in the result, and `cause` is the error that KMS answered, if any.
 */
export async function checkKey(key: CreatedKey): Promise<{ check: KeyCheck; cause?: unknown }> {
  const check = { kid: key.kid, arn: key.arn, signed: false, verified_by_kms: false, verified_by_jwk: false }
  const message = randomBytes(32)
  const digest = createHash('sha256').update(message).digest()
  try {
    const signature = await signDigest(key.arn, digest)
    check.signed = true
    const jwk = createPublicKey({ key: { ...toJwk(key) }, format: 'jwk' })
    check.verified_by_jwk = verify('sha256', message, jwk, signature)
    const { SignatureValid } = await kms.send(
      new VerifyCommand({
        KeyId: key.arn,
        Message: digest,
        MessageType: 'DIGEST',
        Signature: signature,
        SigningAlgorithm: signingAlgorithm,
      }),
    )
    check.verified_by_kms = SignatureValid === true
    return { check }
  } catch (cause) {
    return { check, cause }
  }
}

/** State on record of a key that KMS in this region cannot reach, because a failover left it behind. */
export const otherRegion = 'InOtherRegion'

/** Whether a key is in another region than this deployment. KMS answers as if it did not exist. */
export const isInOtherRegion = (arn: string): boolean => arn.split(':')[3] !== requireEnv('AWS_REGION')

/**
 * Disables a key in KMS and, unless `deletionDays` is 0, schedules its deletion after that many days. It can
 * be repeated safely. Resolves with the key's state once KMS says that nobody can sign with it, otherwise, as
 * KMS lags, with undefined: then repeat it later. `createdAt`, epoch milliseconds, tells a key that KMS does
 * not know yet from a deleted one. A key in another region is left as it is.
 */
export async function disableKey(
  arn: string,
  deletionDays: number,
  createdAt: number,
): Promise<string | undefined> {
  if (isInOtherRegion(arn)) return otherRegion
  const isNew = Date.now() - createdAt < kmsLagMilliseconds
  const isFinal = (state: string) =>
    state === 'PendingDeletion' ||
    (state === 'Deleted' && !isNew) ||
    (state === 'Disabled' && deletionDays === 0)
  try {
    const before = await readKeyState(arn)
    if (isFinal(before)) return before
    if (before !== 'Disabled') await kms.send(new DisableKeyCommand({ KeyId: arn }))
    if (deletionDays > 0) {
      await kms.send(new ScheduleKeyDeletionCommand({ KeyId: arn, PendingWindowInDays: deletionDays }))
    }
    const after = await readKeyState(arn)
    if (isFinal(after)) return after
    log.info('KMS does not show a key as disabled yet', { arn, state: after })
  } catch (error) {
    const lags = error instanceof KMSInvalidStateException || (isNew && isUnusable(error))
    if (!lags) throw error
    log.info('KMS does not let a key be disabled yet', { arn, cause: errorSummary(error) })
  }
  return undefined
}

/** Reads the state of a key in KMS: `Enabled`, `Disabled`, `PendingDeletion`, …; `Deleted` if absent. */
export async function readKeyState(arn: string): Promise<string> {
  try {
    const { KeyMetadata } = await kms.send(new DescribeKeyCommand({ KeyId: arn }))
    return KeyMetadata?.KeyState ?? 'Unknown'
  } catch (error) {
    if (error instanceof NotFoundException) return 'Deleted'
    throw error
  }
}
