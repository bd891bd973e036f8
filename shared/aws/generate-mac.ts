import { GenerateMacCommand } from '@aws-sdk/client-kms'
import { requireEnv } from '../env.ts'
import { kms } from './kms.ts'

/** The uses of the MAC key. A MAC made for one use never matches a MAC made for another use. */
type MacPurpose = 'password' | 'event' | 'client-secret'

/** Computes an HMAC-SHA-256 with a key that never leaves KMS. */
export async function generateMac(purpose: MacPurpose, text: string): Promise<Uint8Array> {
  const { Mac } = await kms.send(
    new GenerateMacCommand({
      KeyId: requireEnv('MAC_KEY_ID'),
      MacAlgorithm: 'HMAC_SHA_256',
      Message: new TextEncoder().encode(`${purpose}:${text}`),
    }),
  )
  if (Mac === undefined) throw new Error('KMS answered GenerateMac without a MAC')
  return Mac
}
