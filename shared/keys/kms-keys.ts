import {
  CreateKeyCommand,
  DescribeKeyCommand,
  DisableKeyCommand,
  GetPublicKeyCommand,
  KMSClient,
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
import { attemptTagName, signingKeyTagName } from './key-names.ts'
import { type CreatedKey, thumbprint, toJwk } from './key-set.ts'
import { signDigest, signingAlgorithm } from './sign-jwt.ts'

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

const maxListPages = 20
const listPageSize = 1000
const tagReadConcurrency = 8

/**
 * Finds the ARNs of this deployment's signing keys that the given attempts created. KMS cannot search by tag,
 * so this reads the tags of every key of the account and region. It is needed only after a run has crashed
 * between CreateKey and the write of the key set.
 */
export async function findKeys(attemptIds: readonly string[]): Promise<string[]> {
  const found: string[] = []
  const addIfWanted = async (arn: string): Promise<void> => {
    const attempt = await readAttemptTag(arn)
    if (attempt !== undefined && attemptIds.includes(attempt)) found.push(arn)
  }
  let pages = 0
  for await (const { Keys = [] } of paginateListKeys({ client: kms, pageSize: listPageSize }, {})) {
    const arns = Keys.flatMap(({ KeyArn }) => KeyArn ?? [])
    for (let start = 0; start < arns.length; start += tagReadConcurrency)
      await Promise.all(arns.slice(start, start + tagReadConcurrency).map(addIfWanted))
    pages += 1
    if (pages === maxListPages) {
      log.error('stopped looking for the keys of unfinished attempts: too many keys in the account')
      break
    }
  }
  return found
}

/** Reads which attempt created a KMS key; undefined if it is not a signing key of this deployment. */
async function readAttemptTag(arn: string): Promise<string | undefined> {
  try {
    const { Tags = [] } = await kms.send(new ListResourceTagsCommand({ KeyId: arn }))
    const value = (name: string) => Tags.find(({ TagKey }) => TagKey === name)?.TagValue
    return value(signingKeyTagName) === requireEnv('SIGNING_KEY_TAG') ? value(attemptTagName) : undefined
  } catch (error) {
    // IAM policies allow reading the tags of our own keys only, and a key may have been deleted meanwhile.
    if (error instanceof Error && ['AccessDeniedException', 'NotFoundException'].includes(error.name)) {
      return undefined
    }
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
 * throws: what failed is false in the result.
 */
export async function checkKey(key: CreatedKey): Promise<KeyCheck> {
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
  } catch (error) {
    log.error('a signing key failed its check', { kid: key.kid, cause: errorSummary(error) })
  }
  return check
}

/**
 * Disables a key in KMS and, unless `deletionDays` is 0, schedules its deletion after that many days. It can
 * be repeated safely. Resolves with the key's state in KMS afterwards.
 */
export async function disableKey(arn: string, deletionDays: number): Promise<string> {
  const state = await readKeyState(arn)
  if (state === 'PendingDeletion' || state === 'Deleted') return state
  if (state !== 'Disabled') await kms.send(new DisableKeyCommand({ KeyId: arn }))
  if (deletionDays > 0) {
    await kms.send(new ScheduleKeyDeletionCommand({ KeyId: arn, PendingWindowInDays: deletionDays }))
  }
  return readKeyState(arn)
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
