import { CreateKeyCommand, KMSClient } from '@aws-sdk/client-kms'
import { clientOptions } from '../aws/client-options.ts'
import { requireEnv } from '../env.ts'
import { settings } from '../settings.ts'
import { attemptTagName, signingKeyTagName } from './key-tags.ts'

// Never repeated by the SDK: a lost answer would make a second key. The attempt's tag finds the first one instead.
const kms = new KMSClient({ ...clientOptions(), maxAttempts: 1 })

/** Has KMS make a signing key, tagged as this deployment's and with the attempt that made it; returns its ARN. */
export async function createSigningKey(attemptId: string): Promise<string> {
  const { KeyMetadata } = await kms.send(
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
