import {
  CreateKeyCommand,
  DescribeKeyCommand,
  DisableKeyCommand,
  GetPublicKeyCommand,
  KMSInvalidStateException,
  NotFoundException,
  ScheduleKeyDeletionCommand,
  VerifyCommand,
} from '@aws-sdk/client-kms'
import { base64url, exportJWK } from 'jose'
import { createHash, createPublicKey, randomBytes, verify } from 'node:crypto'
import { kms } from '../aws/kms.ts'
import { requireEnv } from '../env.ts'
import { errorSummary, log } from '../log.ts'
import { settings } from '../settings.ts'
import type { Evidence, KeyCheck } from './evidence.ts'
import { signingAlgorithm, signingKeyTagName } from '../aws/signing-key-names.ts'
import { type CreatedKey, thumbprint, toJwk } from './set.ts'
import { isUnusable, signDigest } from './sign.ts'
import { kmsLagMilliseconds } from './times.ts'

/** Creates a signing key in KMS, with this deployment's tag and key policy. Resolves with its ARN. */
export async function createSigningKey(): Promise<string> {
  const { KeyMetadata } = await kms.send(
    new CreateKeyCommand({
      KeySpec: settings().signingKeySpec,
      KeyUsage: 'SIGN_VERIFY',
      Description: 'signs device_tokens',
      Policy: requireEnv('SIGNING_KEY_POLICY'),
      Tags: [{ TagKey: signingKeyTagName, TagValue: requireEnv('SIGNING_KEY_TAG') }],
    }),
  )
  if (KeyMetadata?.Arn === undefined) throw new Error('KMS answered CreateKey without an ARN')
  return KeyMetadata.Arn
}

/** Reads the public key of a KMS key, in the form that the key set stores. */
export async function readPublicKey(arn: string): Promise<CreatedKey> {
  const { PublicKey } = await kms.send(new GetPublicKeyCommand({ KeyId: arn }))
  if (PublicKey === undefined) throw new Error('KMS answered GetPublicKey without a key')
  const { n, e } = await exportJWK(
    createPublicKey({ key: Buffer.from(PublicKey), format: 'der', type: 'spki' }),
  )
  if (n === undefined || e === undefined) throw new Error('the signing key is not an RSA key')
  return { kid: thumbprint({ n, e }), arn, n, e }
}

/**
 * Tests a signing key: signs random bytes, then verifies the signature with KMS and with the public key.
 * Never throws: the result has false for a failed test, and the error, if any, as `cause`.
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

/**
 * Signs an evidence record. An error of KMS is replaced by a plain Error, because addKey takes errors of KMS
 * for a refusal of the new signing key.
 */
export async function signEvidence(record: Omit<Evidence, 'signature'>): Promise<Evidence> {
  try {
    const signature = await signDigest(requireEnv('EVIDENCE_KEY_ID'), Buffer.from(record.hash, 'hex'))
    return { ...record, signature: base64url.encode(signature) }
  } catch (error) {
    throw isUnusable(error) ? new Error(`the evidence key: ${(error as Error).name}`) : error
  }
}

/** Stands for the state of a key in another region. KMS shows a key only in the key's own region. */
export const otherRegion = 'InOtherRegion'

/** Whether a key is in another region than this deployment. KMS says that such a key does not exist. */
export const isInOtherRegion = (arn: string): boolean => arn.split(':')[3] !== requireEnv('AWS_REGION')

/**
 * Disables a key in KMS, and schedules its deletion after `deletionDays` days (0: no deletion). Resolves with
 * the key's new state if KMS shows it. If KMS does not show it yet, resolves with undefined: call again
 * later. If KMS does not know the key, the key is new or deleted, depending on `createdAt` (epoch
 * milliseconds). Leaves keys in other regions unchanged.
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

/** Reads the state of a key in KMS: `Enabled`, `Disabled`, …; `Deleted` if KMS does not know the key. */
export async function readKeyState(arn: string): Promise<string> {
  try {
    const { KeyMetadata } = await kms.send(new DescribeKeyCommand({ KeyId: arn }))
    return KeyMetadata?.KeyState ?? 'Unknown'
  } catch (error) {
    if (error instanceof NotFoundException) return 'Deleted'
    throw error
  }
}
