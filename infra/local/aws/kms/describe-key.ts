import type { Key } from './key-ring.ts'

const algorithmsMember = {
  SIGN_VERIFY: 'SigningAlgorithms',
  GENERATE_VERIFY_MAC: 'MacAlgorithms',
  ENCRYPT_DECRYPT: 'EncryptionAlgorithms',
} as const

/** KMS's KeyMetadata structure. */
export function describeKey({ record, specification }: Key): Record<string, unknown> {
  return {
    AWSAccountId: record.arn.split(':')[4],
    KeyId: record.keyId,
    Arn: record.arn,
    CreationDate: record.createdAt,
    Enabled: record.state === 'Enabled',
    Description: record.description,
    KeyUsage: specification.usage,
    KeyState: record.state,
    ...(record.deletionAt === undefined ? {} : { DeletionDate: record.deletionAt }),
    Origin: 'AWS_KMS',
    KeyManager: 'CUSTOMER',
    CustomerMasterKeySpec: record.spec,
    KeySpec: record.spec,
    [algorithmsMember[specification.usage]]: specification.algorithms,
    MultiRegion: false,
  }
}
