import { GenerateMacCommand } from '@aws-sdk/client-kms'
import { requireEnv } from '../env.ts'
import { kms } from './kms.ts'

/** The uses of the MAC keys. A MAC made for one use never matches a MAC made for another use. */
type MacPurpose = 'password' | 'event' | 'client-secret'

const keyArns = (): string[] => requireEnv('MAC_KEY_IDS').split(',')
const idOf = (arn = ''): string => arn.slice(arn.lastIndexOf('/') + 1)

/** Ids of the stage's MAC keys, which are the same in every region. */
export const macKeyIds = (): string[] => keyArns().map((arn) => idOf(arn))

/** Id of the MAC key for new passwords and client secrets; their stored forms contain this id. */
export const newestMacKey = (): string => idOf(keyArns()[0])

/**
 * Computes an HMAC-SHA-256 in KMS. If the stage no longer has the key `keyId`, uses the newest key. The call
 * then takes as long as any other, and the MAC matches nothing that is stored.
 */
export async function generateMac(purpose: MacPurpose, text: string, keyId: string): Promise<Uint8Array> {
  const arns = keyArns()
  const { Mac } = await kms.send(
    new GenerateMacCommand({
      KeyId: arns.find((arn) => idOf(arn) === keyId) ?? arns[0],
      MacAlgorithm: 'HMAC_SHA_256',
      Message: new TextEncoder().encode(`${purpose}:${text}`),
    }),
  )
  if (Mac === undefined) throw new Error('KMS answered GenerateMac without a MAC')
  return Mac
}
