import { SignCommand } from '@aws-sdk/client-kms'
import { kms } from '../aws/kms.ts'

/** Signature of a SHA-256 digest by a KMS key: RSASSA-PKCS1-v1_5, which is what RS256 means (RFC 7518 §3.3). */
export async function signDigest(arn: string, digest: Uint8Array): Promise<Uint8Array> {
  const { Signature } = await kms.send(
    new SignCommand({
      KeyId: arn,
      Message: digest,
      MessageType: 'DIGEST',
      SigningAlgorithm: 'RSASSA_PKCS1_V1_5_SHA_256',
    }),
  )
  if (Signature === undefined) throw new Error('KMS answered Sign without a signature')
  return Signature
}
