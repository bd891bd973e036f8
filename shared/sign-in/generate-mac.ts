import { GenerateMacCommand } from '@aws-sdk/client-kms'
import { kms } from '../aws/kms.ts'
import { requireEnv } from '../env.ts'

/** What a MAC is made for: a MAC of one purpose says nothing about another. */
type Purpose = 'password' | 'event'

/**
 * HMAC-SHA-256 of a text under the KMS key that never leaves KMS, so that whoever has only the table cannot try out
 * what the text might have been.
 */
export async function generateMac(purpose: Purpose, text: string): Promise<Uint8Array> {
  const { Mac } = await kms.send(
    new GenerateMacCommand({
      KeyId: requireEnv('MAC_KEY_ID'),
      MacAlgorithm: 'HMAC_SHA_256',
      Message: new TextEncoder().encode(`${purpose}:${text}`),
    }),
  )
  if (Mac === undefined) throw new Error('KMS gave no MAC')
  return Mac
}
