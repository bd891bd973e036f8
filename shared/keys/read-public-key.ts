import { GetPublicKeyCommand } from '@aws-sdk/client-kms'
import { createPublicKey } from 'node:crypto'
import { kms } from '../aws/kms.ts'
import type { MadeKey } from './made-key.ts'
import { thumbprint } from './thumbprint.ts'

/** The public half of a KMS key, as the ring keeps it. */
export async function readPublicKey(arn: string): Promise<MadeKey> {
  const { PublicKey } = await kms.send(new GetPublicKeyCommand({ KeyId: arn }))
  if (PublicKey === undefined) throw new Error('KMS answered GetPublicKey without a key')
  const { n, e } = createPublicKey({ key: Buffer.from(PublicKey), format: 'der', type: 'spki' }).export({
    format: 'jwk',
  })
  if (n === undefined || e === undefined) throw new Error('the signing key is not an RSA key')
  return { kid: thumbprint({ n, e }), arn, n, e }
}
