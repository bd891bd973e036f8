import {
  DescribeKeyCommand,
  DisableKeyCommand,
  NotFoundException,
  ScheduleKeyDeletionCommand,
} from '@aws-sdk/client-kms'
import { kms } from '../aws/kms.ts'

/**
 * Has KMS disable a key and, where `deletionDays` is not 0, delete it after so many days. Done already counts as done, so it can be
 * repeated. Returns the state in which KMS then says the key is.
 */
export async function disposeKey(arn: string, deletionDays: number): Promise<string> {
  const state = await readKeyState(arn)
  if (state === 'PendingDeletion' || state === 'Deleted') return state
  if (state !== 'Disabled') await kms.send(new DisableKeyCommand({ KeyId: arn }))
  if (deletionDays > 0) {
    await kms.send(new ScheduleKeyDeletionCommand({ KeyId: arn, PendingWindowInDays: deletionDays }))
  }
  return readKeyState(arn)
}

/** What KMS says of a key: `Enabled`, `Disabled`, `PendingDeletion`, …; `Deleted` where it knows none. */
export async function readKeyState(arn: string): Promise<string> {
  try {
    const { KeyMetadata } = await kms.send(new DescribeKeyCommand({ KeyId: arn }))
    return KeyMetadata?.KeyState ?? 'Unknown'
  } catch (error) {
    if (error instanceof NotFoundException) return 'Deleted'
    throw error
  }
}
